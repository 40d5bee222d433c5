from .creation import create_snapshot as create_snapshot
from .download import download_manifest as download_manifest
from .installation import install_snapshot as install_snapshot
from .manifest import MANIFEST_FILE as MANIFEST_FILE
from .manifest import SnapshotManifest as SnapshotManifest
from .manifest import read_manifest as read_manifest
