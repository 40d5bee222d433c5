from .address_guard import AddressGuard as AddressGuard
from .address_guard import AddressRefused as AddressRefused
from .guarded_client import (
    NoResponseError as NoResponseError,
)
from .guarded_client import (
    ResponseMalformedError as ResponseMalformedError,
)
from .guarded_client import (
    ResponseTooLargeError as ResponseTooLargeError,
)
from .guarded_client import (
    SystemResolver as SystemResolver,
)
from .guarded_client import (
    exchange as exchange,
)
