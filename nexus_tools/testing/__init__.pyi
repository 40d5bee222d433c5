from .fixtures import LocalnetFixture as LocalnetFixture
from .fixtures import PublishedPackage as PublishedPackage
from .fixtures import PublishFixture as PublishFixture
from .fixtures import WalletFixture as WalletFixture
from .session import WALLET_MIST as WALLET_MIST
