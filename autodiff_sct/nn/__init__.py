"""MindSpore's ``nn``: cells, layers, losses and optimizers over NumPy."""

from . import (
    activation,
    attention,
    cell,
    images,
    layers,
    learning_rate_schedule,
    loss,
    normalization,
    optim,
    pools,
    recurrent,
)
from .activation import *  # noqa: F403
from .attention import *  # noqa: F403
from .cell import *  # noqa: F403
from .images import *  # noqa: F403
from .layers import *  # noqa: F403
from .learning_rate_schedule import *  # noqa: F403
from .loss import *  # noqa: F403
from .normalization import *  # noqa: F403
from .optim import *  # noqa: F403
from .pools import *  # noqa: F403
from .recurrent import *  # noqa: F403

__all__: list[str] = []
__all__ += activation.__all__
__all__ += attention.__all__
__all__ += cell.__all__
__all__ += images.__all__
__all__ += layers.__all__
__all__ += learning_rate_schedule.__all__
__all__ += loss.__all__
__all__ += normalization.__all__
__all__ += optim.__all__
__all__ += pools.__all__
__all__ += recurrent.__all__
