"""Programs of the bank that the tape refuses, by reason.

A program that the tape has learnt fails its test until it is removed from here.
"""

from __future__ import annotations

# Writes into its arguments, which are leaves: torch refuses that, too.
INTO_LEAF = """
    argument_alias thomas_algorithm gaussian_elimination upwind_burgers list_argument_written
    dict_argument_written dict_argument_written_by_number swap_rows small_swap_elements argmax_index
    element_read_before_the_write copy_by_reshape_of_transpose constant_fill_through_a_list
    write_into_argument normalise_argument dataclass_inside dataclass_argument_written
    view_in_one_branch_returned early_return_of_a_view rows_in_a_list name_of_a_loop_test helper_writes
    rows_by_letters rows_by_draws rows_by_sorted_keys rows_by_settings elimination_with_pivots
    """

# Overwrites a value that an earlier operation's derivative needs: the tape has no copy of it, the compiler restores it.
SAVED_VALUE = """
    outputs_of_nested_calls array_bound_anew_in_some_iterations edges_damped_by_lists products_added_to_parts levinson
    difference_taken_off_a_row row_raised_before_all_are_lowered
    distances_then_overwritten
    alias_in_dict write_in_one_branch reversed_slice self_reversed aug_view_loop einsum_view small_momentum
    small_forces small_buffers set_slices set_rows_and_columns set_ellipsis tuple_of_arrays self_products
    overlapping_shift overwritten_read_nonlinearly nonlinear_stencil swapped_buffers copy_in_loop
    double_buffer double_buffer_with_a_third_name ring_of_buffers conjugate_gradients power_iteration
    gram_schmidt multigrid_restriction prefix_scan_by_doubling householder_qr ping_pong_buffers
    base_written_view_read diagonal_views rows_written_in_loop zipped_rows_written added_axes split_views
    view_index_from_loop nan_to_zero stencil_over_segments segments_inside_segments manager_that_changes_an_array
    buffers_in_turns step_of_a_softmax_classifier boids written_after_one_side boundaries_from_a_copy
    first_of_a_queue_changes_in_each_step window_of_a_queue_of_fresh_arrays
    copy_is_written_too written_between_pieces written_between_mean_and_variance diagonal_into_a_written_vector
    """

# Makes a plain array of recorded values: `np.array([a, b])`, `np.asarray(t)`, `B[:] = row`.
PLAIN_ARRAY = """
    speeds_made_in_the_first_step predators_by_chosen_steps into_bare_memory unwrapped
    default_copy_or_not rk4_pendulum nested_comprehension stacked_comprehension conditional_expression_inside
    matrix_product_by_comprehension list_of_functions_applied arrays_in_list_written group_by_key small_floats
    complex_written casts_and_likes array_from_list broadcast_store indices_with_values walk_over_indices
    rotated_list newton_system lotka_volterra_history view_method_and_asarray joined_by_index
    drawn_with_location_and_scale convolution_by_strides dicts_in_groups queue_of_pairs ukf_pendulum
    scattering_matrix bodies_of_several_shapes conjugate_of_unknown_dtype dtype_from_a_helper
    arrays_as_required ranges_beside_arrays imaginary_part_assigned rows_of_known_integers
    """

# Makes a Python number of a recorded value: `float(t)`, the functions of `math`, `f"{x:.2f}"`, `math.fsum`.
PYTHON_NUMBER = """
    math_functions more_math sums_and_products floats_and_items powers_and_modulo strings_and_prints
    python_complex mean_kinds black_scholes math_domain_error local_import helper_with_a_cache
    bound_in_a_loop_to_an_outer_array slope_with_a_sign only_the_exception_matters
    asks_for_values_only_until_it_knows cache_inside writes_a_log function_by_its_name products_of_generators
    convex_hull starred_lambda cases_without_a_last_one errors_of_the_library_translated report_only_where_asked_for
    ctc_loss peng_robinson unpacked_iterators bodies_attract_each_other same_functions_on_both_sides
    eccentric_anomaly number_or_none_with_an_item
    """

# Writes recorded values into an array that is none: `out[i] = t`, `out=buffer`.
INTO_PLAIN_ARRAY = """
    epochs_of_layers_in_a_list
    objects_added_in_a_loop_and_taken_by_a_number_of_the_run
    triangular_solve cholesky_by_hand convolution_loops soft_dynamic_time_warping into_empty enumerate_zip
    elementwise_matvec convolution_layer out_keyword out_of_products out_is_a_view parameters_in_a_dict
    masked_division arrays_by_setdefault arrays_in_dicts_in_a_list sparse_rows_by_items
    momenta_read_and_put_back bodies_moved_in_place levinson_recursion
    """

# Changes places by other operations than additions: `np.multiply.at`, `np.maximum.at`.
AT_PLACES = """
    multiplies_at_places largest_in_groups
    """

# Gives `out` by its position, where the rules know it by name.
OUT_BY_POSITION = """
    out_by_position
    """

# Gives settings that the compiler says with other functions.
SETTINGS = """
    averages_with_weights_returned variances_around_given_means
    """

# Writes into `z.imag`, a view whose cotangent is not the same view of that of `z`.
IMAGINARY_PART = """
    real_and_imaginary_views imaginary_items_assigned
    """

# Calls a compiled gradient, which the tape would not see.
COMPILED_GRADIENT = """
    pullback_norm pullback_twice pullback_in_loop pullback_made_in_loop pullback_of_several_outputs
    pullback_after_writes pullback_of_container pullback_with_capture pullback_of_writer pullback_of_while
    pullback_with_aux hessian_vector_norm tangent_and_value tangent_of_tangent gradient_of_tangent
    tangent_of_container tangent_in_branch tangent_of_loop jacobian_by_rows jacobian_by_columns
    jacobian_of_several jacobian_of_number hessian_trace hessian_by_jacobians newton_steps gradient_operation
    gradient_found_by_id gradient_with_seed gradient_with_aux gradient_by_keyword gradient_as_decorator
    gradient_of_chosen gradient_by_weights gradient_of_writer pullback_of_first_writer
    """

# Asks for a method of arrays that tensors lack.
NO_METHOD = """
    put_and_partition
    """

# Shuffles in place, one row for another: rows of tensors are views, of which NumPy warns.
SHUFFLED = """
    rows_shuffled_again_and_again
    """

# Copies results by `copy`: torch refuses that, too.
COPIED_RESULT = """
    copy_of_a_number_or_an_array deepcopy_of_an_object_keeps_its_aliases deepcopy_of_lists deepcopy_of_a_dict
    """

# Asks for the type of its argument, or returns a constant: no result is a tensor.
NO_TENSOR = """
    isinstance_and_type constant_result
    """

# Catches ZeroDivisionError: in NumPy, whose numbers tensors hold, a division by zero is a warning.
NUMPY_DIVISION = """
    division_by_zero_caught
    """


def by_name(reasons: dict[str, str]) -> dict[str, str]:
    """Program -> pattern of the refusal, from pattern -> programs."""
    return {name: pattern for pattern, names in reasons.items() for name in names.split()}


REFUSALS = by_name(
    {
        r"written to": INTO_LEAF,
        r"modified in place": SAVED_VALUE,
        r"a plain array made from a tensor": PLAIN_ARRAY,
        r"a Python number": PYTHON_NUMBER,
        r"called in this form": OUT_BY_POSITION + SETTINGS,
        r"imaginary part": IMAGINARY_PART,
        r"into a plain array|setting an array element": INTO_PLAIN_ARRAY,
        r"at has no derivative rule": AT_PLACES,
        r"to a compiled gradient|an input of jacfwd": COMPILED_GRADIENT,
        r"has no attribute": NO_METHOD,
        r"you are shuffling": SHUFFLED,
        r"only leaves can be copied": COPIED_RESULT,
        r"an output is a tensor": NO_TENSOR,
        r"divide by zero": NUMPY_DIVISION,
    }
)

# The programs that write into leaves run on copies of them as well; these overwrite values that are needed, too.
INTO_LEAVES = dict.fromkeys(INTO_LEAF.split(), "written to")
REFUSALS_OF_COPIES = by_name(
    {r"modified in place": "write_into_argument normalise_argument rows_in_a_list helper_writes"}
)
