"""Make a release, which replaces the folder `dist`, or rehearse it with `--dry-run`."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp_packages import bundle
from mcp_packages.metadata import BUNDLE_FILE
from releasing import artifacts, tools
from releasing.building import build, differences
from releasing.checks import git, problems, tag_of, version_of

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"


def main() -> int:
    """Check, build, try and sign a release. Return 1 if the commit cannot be released."""
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.key and not arguments.key.is_file():
        parser.error(f"the key {arguments.key} does not exist")
    reasons = list(problems(ROOT))
    for reason in reasons:
        _say(f"{'warning' if arguments.dry_run else 'error'}: {reason}")
    if reasons and not arguments.dry_run:
        return 1
    commit = git(ROOT, "rev-parse", "HEAD")
    with TemporaryDirectory(prefix="nexus-tools-release-") as name:
        try:
            files = make(commit, Path(name), installs=not arguments.skip_install)
            digests = artifacts.write_digests(files, files[0].parent)
            files.append(digests)
            if arguments.key:
                files.append(artifacts.sign(digests, arguments.key))
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            _say(f"error: {error}")
            return 1
        print(digests.read_text(encoding="utf-8"), end="")
        if not arguments.dry_run:
            _replace(DIST, files)
    print(remaining(version_of(ROOT), commit, signed=bool(arguments.key)))
    return 0


def make(commit: str, folder: Path, *, installs: bool) -> list[Path]:
    """Build a commit twice at different paths, check the results, and return the first files.

    The MCP bundle is built from this checkout, which is the commit unless the release is a dry run.
    Raises `ValueError` if the builds differ. `installs` also checks the metadata, runs the demo of
    the installed wheel, and writes the SBOM, for which packages are downloaded.
    """
    _say(f"building {commit[:12]} twice")
    builds = [build(ROOT, commit, folder / name) for name in ("first", "a second, longer path")]
    if changed := list(differences(builds)):
        raise ValueError(f"two builds differ: {', '.join(changed)}")
    [sdist, wheel] = builds[0]
    mcp_bundle = sdist.with_name(BUNDLE_FILE)
    mcp_bundle.write_bytes(bundle())
    files = [sdist, wheel, mcp_bundle]
    if not installs:
        return files
    _say("checking the metadata")
    programs = tools.install_tools(folder / "tools")
    subprocess.run((programs / "twine", "check", "--strict", sdist, wheel), check=True)
    _say("installing the wheel and running its demo")
    clone = folder / "first" / "clone"
    program = tools.install_wheel(wheel, clone / "requirements.lock", folder / "user")
    home = folder / "home"
    home.mkdir()
    said = tools.run_as_new_user(str(program), "--version", home=home).strip()
    if said != f"nexus-tools, version {version_of(clone)}":
        raise ValueError(f"the installed program reports another version: {said}")
    tools.run_as_new_user(str(program), "demo", "--quiet", home=home)
    sbom = sdist.with_name(f"nexus_tools-{version_of(clone)}.cdx.json")
    tools.write_sbom(programs, clone, sbom)
    return [*files, sbom]


def _replace(folder: Path, files: list[Path]) -> None:
    """Replace the contents of a folder, so that no older release is uploaded from it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in files:
        shutil.copy(file, folder)


def remaining(version: str, commit: str, *, signed: bool) -> str:
    """Return the steps that only a person can take, with their commands."""
    tag, image = tag_of(version), f"nexus-tools-leader:{version}"
    commands = [
        f"git tag --sign {tag} {commit} --message 'nexus-tools {version}'",
        f"git push origin {tag}",
        "uvx twine upload dist/*.tar.gz dist/*.whl",
        f"docker build -f deploy/Dockerfile -t {image} .",
        f"docker tag {image} REGISTRY/{image} && docker push REGISTRY/{image}",
        "scripts/server_json io.github.OWNER/nexus-tools --bundle-url URL   # URL in the release",
        "cd build && mcp-publisher publish",
    ]
    if not signed:
        commands.insert(0, "scripts/release --key KEY   # sign the digests")
    lines = [
        "\nTo complete a release, run these commands:",
        *(f"  {command}" for command in commands),
        "After you push the tag, attach the files of dist/ to its release.",
        "Users verify them with your public key in the file allowed_signers:",
        f"  {artifacts.verification('IDENTITY')}",
    ]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="Build and check HEAD, also if it cannot be released, and keep nothing.",
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="Private SSH key that signs the digests, or the public key of a key in ssh-agent.",
    )
    parser.add_argument(
        "--skip-install",
        action="store_true",
        help="Do not download packages: skip twine, the demo of the wheel, and the SBOM.",
    )
    return parser


def _say(text: str) -> None:
    print(f"release: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
