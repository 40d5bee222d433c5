"""The paths that every confined program may read: libraries, programs, and system settings.

By convention, these paths do not hold secrets. Therefore only single files of `/etc` are listed,
and `/usr/local` is listed without its `etc`.
"""

_USR = ("bin", "games", "include", "lib", "lib32", "lib64", "libexec", "libx32", "sbin", "share")
_ETC = (
    *("alternatives", "ca-certificates", "crypto-policies", "fonts", "ld.so.cache", "ld.so.conf"),
    *("ld.so.conf.d", "pki/ca-trust", "pki/tls/cert.pem", "pki/tls/certs", "ssl/cert.pem"),
    *("ssl/certs", "ssl/openssl.cnf", "gai.conf", "host.conf", "hosts", "nsswitch.conf"),
    *("protocols", "resolv.conf", "services", "group", "passwd", "locale.alias", "locale.conf"),
    *("localtime", "timezone", "inputrc", "magic", "mime.types", "os-release", "gitattributes"),
    *("alpine-release", "arch-release", "centos-release", "debian_version", "fedora-release"),
    *("lsb-release", "redhat-release", "system-release"),
    *("gitconfig", "python3", "java", "perl", "ImageMagick-6", "ImageMagick-7"),
)
_PROC = (
    *("cpuinfo", "filesystems", "loadavg", "meminfo", "self", "stat", "uptime", "version"),
    *("sys/kernel/cap_last_cap", "sys/kernel/ngroups_max", "sys/kernel/osrelease"),
    *("sys/kernel/pid_max", "sys/kernel/random", "sys/vm/overcommit_memory"),
)

READABLE = (
    *(f"/{name}" for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin")),
    *(f"/usr/{name}" for name in _USR),
    *(f"/usr/local/{name}" for name in _USR),
    *(f"/etc/{name}" for name in _ETC),
    *(f"/proc/{name}" for name in _PROC),
    *("/gnu/store", "/nix/store"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup"),
    *("/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"),
)

DEVICES = ("/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero")
