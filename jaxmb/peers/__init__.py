"""Other engines on the benchmark problems, for `jaxmb bench peers`. None of them is needed otherwise.

An engine is imported when one of its models is built.
"""

from .base import Method as Method
from .base import Model as Model
from .base import Outcome as Outcome
from .base import Peer as Peer
from .exudyn import EXUDYN
from .mujoco import MUJOCO
from .pinocchio import PINOCCHIO
from .scipy import SCIPY

PEERS: dict[str, Peer] = {peer.name: peer for peer in (EXUDYN, MUJOCO, PINOCCHIO, SCIPY)}
