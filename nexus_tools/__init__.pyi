from .errors import NexusError as NexusError
from .nexus import Nexus as Nexus
from .registry import InvocationFailedError as InvocationFailedError
from .registry import OutputInvalidError as OutputInvalidError
from .sui.keystore import KeyPair as KeyPair
from .tool import Answer as Answer
from .tool import Failure as Failure
from .tool import Outcome as Outcome

__version__: str
