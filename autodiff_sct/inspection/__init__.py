"""Looking at derivatives: where a NaN comes from, what each line costs, the explorer, notebooks.

In come functions and gradient functions of `api`, out come reports and pages.  Emitted programs are run as they are:
line events tell what happens in them, and their line maps (`codegen.line_map`) name the user's lines.
"""
