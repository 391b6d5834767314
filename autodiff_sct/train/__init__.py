"""MindSpore's ``train``: parameters in files."""

from .serialization import load_checkpoint, load_param_into_net, save_checkpoint

__all__ = ["load_checkpoint", "load_param_into_net", "save_checkpoint"]
