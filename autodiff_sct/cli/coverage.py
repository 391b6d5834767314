"""Coverage: what becomes of each public function of NumPy, `math` and SciPy, and which names of MindSpore are here.

All is read from the tables that the compiler uses; only the reasons of refusals are written here.

The names are those of MindSpore 2's reference that the official tutorials, `mindspore-ai/models` and
`mindspore-ai/mindscience` use, and further ones of the same kinds.  What is here is looked up, not written down.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from autodiff_sct.compiler import derivatives_inside, interp
from autodiff_sct.compiler.analysis.missing_rules import full_name
from autodiff_sct.compiler.derivatives_inside.scipy import MODULES as FOLLOWED
from autodiff_sct.compiler.derivatives_inside.scipy import load_libraries
from autodiff_sct.compiler.interp.library.validation import text_of
from autodiff_sct.compiler.interp.numpy import methods
from autodiff_sct.rules.table import MODULES, NONDIFFERENTIABLE, TABLE, load_optional

from ..compiler.interp.kernel.handlers import HANDLERS

__all__ = ["as_page", "as_text", "have_and_lack", "mindspore_page"]

Found = dict[str, dict[str, list[str]]]  # by namespace and by outcome: the names

NAMESPACES = "numpy numpy.linalg numpy.fft math cmath".split()
SCIPYS = (
    "special linalg fft integrate interpolate ndimage optimize signal sparse sparse.linalg spatial.distance "
    "spatial.transform stats"
).split()
ARRAYS = "methods of arrays"
BOTH, REVERSE, COMPOSED = "derivative in both modes", "derivative in reverse mode", "followed into what it does"
STEP, TEXT = "derivative 0, or no real number", "no rule: its Python text is followed where that can be done"
OUTCOMES = (BOTH, REVERSE, COMPOSED, STEP, TEXT)

REFUSED = {
    "matrices, and memory shared with what is no array": "asmatrix bmat frombuffer from_dlpack",
    "input, output and text": """
        array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
        fromfile fromregex fromstring genfromtxt load loadtxt save savetxt savez savez_compressed info typename
        mintypecode datetime_as_string datetime_data busday_count busday_offset is_busday""",
    "settings": """
        get_printoptions set_printoptions printoptions getbufsize setbufsize geterr seterr geterrcall seterrcall
        get_include show_config show_runtime test nested_iters""",
}
WRITING = {"fill", "sort", "put"}
ALIASES = {"compress": np.compress, "reshape": np.reshape, "transpose": np.transpose, "tolist": np.ndarray.tolist}

PAGE = """# Coverage

What becomes of each public function of NumPy {numpy} and SciPy {scipy} where a derivative has to pass through it:
{supported} have one. Rules are of any order, unless a refusal says otherwise; what is refused is refused only where a
derivative would have to pass, by name and with its line. `python -m autodiff_sct coverage --page` writes this page.

| | what becomes of it | |
|---|---|---|
"""


def load_tables() -> None:
    """Import all rules and handlers, those of SciPy if it is installed."""
    for package in (interp, derivatives_inside):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".scipy" not in module.name or find_spec("scipy"):
                import_module(module.name)
    for library in (*MODULES, *FOLLOWED):
        if find_spec(library.partition(".")[0]):
            import_module(library)
    load_optional()
    load_libraries()


def functions(namespace: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a namespace, and the classes that have a derivative."""
    module = import_module(namespace)
    for name in sorted(getattr(module, "__all__", dir(module))):
        value = getattr(module, name, None)
        if name.startswith("_") or not callable(value) or type(value).__hash__ is None:
            continue
        if not inspect.isclass(value) or value in HANDLERS or value in TABLE:
            yield name, value


def outcome_of(fn: Any, name: str) -> str:
    """The outcome of a function: supported, inactive, or refused with its reason."""
    if (row := TABLE.get(fn)) is not None:
        one_text = row.kind in ("elementwise", "linear")
        return BOTH if one_text or row.forward is not None or row.forward_anywhere is not None else REVERSE
    if fn in NONDIFFERENTIABLE:
        return STEP
    if fn in HANDLERS:
        return TEXT if getattr(HANDLERS[fn], "follows", False) else COMPOSED
    reason = next((reason for reason, names in REFUSED.items() if name in names.split()), None)
    if reason is None and text_of(fn) is not None:
        return TEXT
    return f"refused: {reason or 'no rule'}"


def outcome_of_method(name: str) -> str:
    """The outcome of a method of arrays."""
    fn = ALIASES.get(name) or methods.FUNCTIONS.get(name)
    return COMPOSED if name in WRITING else "refused: no rule" if fn is None else outcome_of(fn, name)


def distributions() -> Iterator[tuple[str, str]]:
    """The methods and the names of SciPy's distributions."""
    from autodiff_sct.rules.scipy import samples, stats

    for rules, of in ((stats, "logpdf pdf cdf logcdf sf logsf ppf isf"), (samples, "logpmf pmf cdf sf")):
        for name in sorted(rules.SLOPES):
            yield of, name


def coverage() -> Found:
    """The public names by namespace and by what becomes of them."""
    load_tables()
    found: Found = {}
    scipys = [f"scipy.{name}" for name in SCIPYS] if find_spec("scipy") else []
    for namespace in (*NAMESPACES, *scipys):
        for name, fn in functions(namespace):
            note(found, namespace, outcome_of(fn, name), name)
    for name, _ in inspect.getmembers(np.ndarray, callable):
        if not name.startswith("_") and name != "ctypes":
            note(found, ARRAYS, outcome_of_method(name), name)
    if scipys:
        for namespace, name in behind_classes():
            note(found, namespace, COMPOSED, name)
        for of, name in distributions():
            note(found, "scipy.stats", f"{BOTH}: {of} of", name)
    return found


def behind_classes() -> Iterator[tuple[str, str]]:
    """The methods of classes of SciPy's that are followed into what they do."""
    for fn in {*TABLE, *HANDLERS}:
        parts = full_name(fn).split(".")
        homes = [k for k in range(2, len(parts)) if ".".join(parts[:k]) in sys.modules]
        if parts[0] == "scipy" and homes and len(parts) > homes[-1] + 1 and not parts[-1].startswith("_"):
            yield ".".join(parts[: homes[-1]]), ".".join(parts[homes[-1] :])


def note(found: Found, namespace: str, outcome: str, name: str) -> None:
    names = found.setdefault(namespace, {}).setdefault(outcome, [])
    if name not in names:
        names.append(name)


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Namespace, outcome and names, what is supported first."""
    for namespace, outcomes in coverage().items():
        for outcome in (*filter(outcomes.get, OUTCOMES), *sorted(outcomes.keys() - {*OUTCOMES})):
            yield namespace, outcome, sorted(outcomes[outcome])


def as_text() -> str:
    """The coverage as text for a terminal."""
    lines = []
    for namespace, outcome, names in rows():
        lines.append(f"{namespace}: {outcome} ({len(names)})")
        lines += textwrap.wrap(" ".join(names), 100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def as_page() -> str:
    """The coverage as a page in Markdown."""
    import scipy

    found = [*rows()]
    supported = sum(len(names) for _, outcome, names in found if outcome.startswith((BOTH, REVERSE, COMPOSED)))
    lines = [
        f"| {namespace} | {outcome} ({len(names)}) | {' '.join(f'`{name}`' for name in names)} |"
        for namespace, outcome, names in found
    ]
    head = PAGE.format(numpy=np.__version__, scipy=scipy.__version__, supported=supported)
    return head + "\n".join(lines) + "\n"


WANTED = {
    "mindspore": """
        CSRTensor GRAPH_MODE Model PYNATIVE_MODE Parameter ParameterTuple Tensor bool_ complex64 complex128
        context dtype export float16 float32 float64 from_numpy get_context get_grad get_seed grad int8 int16
        int32 int64 jacfwd jacrev jit jit_class jvp load_checkpoint load_param_into_net ms_function mutable nn
        ops save_checkpoint set_context set_device set_seed tensor uint8 uint16 uint32 uint64 value_and_grad vjp
        vmap""",
    "mindspore.common.initializer": """
        Constant Dirac HeNormal HeUniform Identity Initializer Normal One Orthogonal Sparse TruncatedNormal
        Uniform VarianceScaling XavierNormal XavierUniform Zero initializer""",
    "mindspore.nn": """
        ASGD AdaMax AdaSumByGradWrapCell Adadelta Adagrad Adam AdamWeightDecay AdaptiveAvgPool1d
        AdaptiveAvgPool2d AdaptiveMaxPool2d AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d
        BatchNorm2d BatchNorm3d BiDense CELU CTCLoss Cell CellDict CellList ChannelShuffle ConstantPad1d
        ConstantPad2d Conv1d Conv1dTranspose Conv2d Conv2dTranspose Conv3d Conv3dTranspose CosineDecayLR
        CosineEmbeddingLoss CrossEntropyLoss Dense DiceLoss Dropout Dropout1d Dropout2d ELU Embedding
        ExponentialDecayLR FTRL FastGelu Flatten FocalLoss GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm
        HShrink HSigmoid HSwish Hardtanh HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d
        InverseDecayLR KLDivLoss L1Loss LSTM LSTMCell Lamb LayerNorm LeakyReLU LearningRateSchedule LogSigmoid
        LogSoftmax MAELoss MSELoss MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool2d Mish Momentum
        MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention NLLLoss NaturalExpDecayLR OneHot Optimizer
        PReLU PixelShuffle PixelUnshuffle PoissonNLLLoss PolynomialDecayLR RMSELoss RMSProp RNN RNNCell RReLU
        ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d ResizeBilinear Rprop SGD
        SeLU SequentialCell SiLU Sigmoid SmoothL1Loss SoftMarginLoss SoftShrink Softmax Softmax2d
        SoftmaxCrossEntropyWithLogits Softmin Softplus Softsign Tanh Tanhshrink Threshold TrainOneStepCell
        TrainOneStepWithLossScaleCell TransformerDecoder TransformerEncoder TransformerEncoderLayer
        TripletMarginLoss Unflatten Unfold Upsample WarmUpLR WithEvalCell WithLossCell ZeroPad2d cosine_decay_lr
        exponential_decay_lr get_activation inverse_decay_lr natural_exp_decay_lr piecewise_constant_lr
        polynomial_decay_lr warmup_lr""",
    "mindspore.ops, functions": """
        abs absolute acos acosh add addcdiv addcmul addmm addn all amax amin any arange argmax argmin argsort
        asin asinh assign assign_add assign_sub atan atan2 atanh avg_pool2d baddbmm batch_norm bias_add
        binary_cross_entropy binary_cross_entropy_with_logits bmm broadcast_to cast cat cdist ceil celu chunk
        clamp clip clip_by_global_norm clip_by_norm clip_by_value column_stack concat conv2d cos cosh
        cosine_similarity count_nonzero cross cross_entropy cummax cumprod cumsum deg2rad dense depend det diag
        diagonal digamma div dot dropout dstack dtype einsum elu equal erf erfc erfinv exp exp2 expand
        expand_dims expm1 eye fast_gelu fill flatten flip floor floor_div floor_mod fmax fmod frac full
        full_like gather gather_d gather_elements gather_nd ge gelu ger glu grad greater greater_equal gt
        hardshrink hardsigmoid hardswish hardtanh hstack huber_loss hypot index_select inner interpolate inverse
        isclose isfinite isinf isnan jvp kron l1_loss l2_normalize layer_norm le leaky_relu lerp less less_equal
        lgamma linspace log log10 log1p log2 log_softmax logaddexp logical_and logical_not logical_or
        logical_xor logit logsigmoid logsumexp lt masked_fill masked_select matmul max max_pool2d maximum mean
        median meshgrid min minimum mish mm moveaxis mse_loss mul multiply mv nan_to_num nansum narrow ne neg
        nll_loss nonzero norm normal not_equal numel one_hot ones ones_like outer pad permute pow prelu prod
        rad2deg rand randint randn rank ravel reciprocal reduce_sum relu relu6 repeat_elements repeat_interleave
        reshape roll rot90 round rsqrt scatter scatter_nd searchsorted select selu shape sigmoid sign silu sin
        sinc sinh size slice smooth_l1_loss softmax softmin softplus softshrink softsign sort split sqrt square
        squeeze stack standard_normal std std_mean stop_gradient strided_slice sub subtract sum swapaxes t tan
        tanh tanhshrink tensor_scatter_add tensor_scatter_update tensor_split threshold tile topk trace
        transpose trapz tril triu true_divide trunc unbind uniform unique unsqueeze unstack value_and_grad var
        var_mean vjp vmap vstack where xlogy zeros zeros_like""",
    "mindspore.ops, primitives": """
        ACos Abs AccumulateNV2 Acosh Add AddN ArgMaxWithValue ArgMinWithValue Argmax Argmin Asin Asinh Assign
        AssignAdd AssignSub Atan Atan2 Atanh AvgPool BatchMatMul BatchNorm BiasAdd BinaryCrossEntropy
        BroadcastTo Cast Ceil Concat Conv2D Cos Cosh Cross CumProd CumSum DType Depend Div DivNoNan Dropout Elu
        EmbeddingLookup Equal Erf Erfc Exp ExpandDims Expm1 Eye FastGeLU Fill Flatten Floor FloorDiv FloorMod
        Gather GatherD GatherNd GeLU GradOperation Greater GreaterEqual HShrink HSigmoid HSwish HyperMap Hypot
        Identity Inv IsFinite IsInf IsNan L2Loss L2Normalize LayerNorm Lerp Less LessEqual LinSpace Log Log1p
        LogSoftmax LogicalAnd LogicalNot LogicalOr LogicalXor Map MaskedFill MatMul MaxPool Maximum Meshgrid
        Minimum Mish Mod Mul MulNoNan MultitypeFuncGraph NLLLoss Neg NotEqual OneHot Ones OnesLike PReLU Pad
        Partial Pow Primitive Print Range Rank ReLU ReLU6 RealDiv Reciprocal ReduceAll ReduceAny ReduceMax
        ReduceMean ReduceMin ReduceProd ReduceSum Reshape ResizeBilinear ReverseV2 Rint Round Rsqrt ScatterNd
        SeLU Select Shape Sigmoid SigmoidCrossEntropyWithLogits Sign Sin Sinh Size Slice SmoothL1Loss SoftShrink
        Softmax SoftmaxCrossEntropyWithLogits Softplus Softsign Sort SparseSoftmaxCrossEntropyWithLogits Split
        Sqrt Square SquareSumAll Squeeze Stack StandardNormal StopGradient StridedSlice Sub Tan Tanh
        TensorScatterAdd TensorScatterUpdate Tile TopK Transpose Tril Triu Trunc TruncateDiv UniformReal Unstack
        Xlogy Zeros ZerosLike""",
    "mindspore.numpy": """
        abs add arange arccos arcsin arctan arctan2 argmax argmin array asarray broadcast_to clip concatenate
        cos cosh cross cumsum diag divide dot einsum exp expand_dims expm1 eye flip full full_like inner
        linspace log log1p matmul max maximum mean meshgrid min minimum moveaxis multiply negative norm ones
        ones_like outer pad power prod ravel repeat reshape roll sign sin sinh split sqrt square squeeze stack
        std subtract sum swapaxes take tan tanh tensordot tile trace transpose tril triu var where zeros
        zeros_like""",
    "methods of Tensor": """
        T abs all any argmax argmin asnumpy astype bool broadcast_to ceil chunk clamp clip copy cos cumprod
        cumsum diagonal div dtype exp expand_as expand_dims flatten flip float floor gather half int isnan item
        itemsize log long masked_fill matmul max maximum mean min minimum mul nbytes ndim neg norm nonzero
        permute pow prod ravel reciprocal repeat reshape round rsqrt select shape sigmoid sign sin size softmax
        sort split sqrt square squeeze std sub sum swapaxes take tan tanh tile tolist topk trace transpose
        unsqueeze var view view_as where""",
}
MINDSPORE_PAGE = """# MindSpore's names

Which of MindSpore's names are here, of those that its tutorials and model collections use and of further ones of the
same kinds: {have} of {all}. Scripts run with their import lines changed, `mindspore` to `autodiff_sct`
([migrating](migrating.md#from-mindspore)). What is not here is refused by Python: the module has no such attribute.
`python -m autodiff_sct coverage --mindspore` writes this page.

| | here | not here |
|---|---|---|
"""


def have_and_lack() -> dict[str, tuple[list[str], list[str]]]:
    """The names that are here and those that are not, by module."""
    from ..tensor import Tensor

    found = {}
    for title, names in WANTED.items():
        path = title.partition(",")[0].replace("mindspore", "autodiff_sct", 1)
        place = Tensor if title == "methods of Tensor" else import_module(path)
        has = {name: hasattr(place, name) for name in names.split()}
        found[title] = [name for name in has if has[name]], [name for name in has if not has[name]]
    return found


def mindspore_page() -> str:
    """The table as a page in Markdown."""
    found = have_and_lack()
    rows = [
        f"| {title} | {listed(have)} ({len(have)}) | {listed(lack)} ({len(lack)}) |"
        for title, (have, lack) in found.items()
    ]
    counts = [len(have) for have, _ in found.values()]
    everything = sum(counts) + sum(len(lack) for _, lack in found.values())
    return MINDSPORE_PAGE.format(have=sum(counts), all=everything) + "\n".join(rows) + "\n"


def listed(names: list[str]) -> str:
    """Names as code."""
    return " ".join(f"`{name}`" for name in names)
