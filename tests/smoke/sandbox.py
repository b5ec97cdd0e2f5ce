# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a program under the restrictions of a systemd unit where no systemd runs: those of its lines
# that the kernel offers to any process. The unit is the source; a line that is not understood here is
# an error, so that none is believed to be tested that is not.
"""The sandbox of a unit file as a preexec function."""
import ctypes
import errno
import os
import socket
import subprocess

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_MDWE, MDWE_REFUSE_EXEC_GAIN = 24, 38, 65, 1
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUTS = 0x20000, 0x8000000, 0x4000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
SCMP_ACT_ALLOW, SCMP_CMP_EQ = 0x7fff0000, 4
CAPABILITIES = '''chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable
net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace
sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control
setfcap mac_override mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore'''.split()

# What needs a service manager: devices by cgroup, and settings without an effect on the program.
NOT_HERE = {'DevicePolicy', 'DeviceAllow', 'KeyringMode', 'RemoveIPC', 'ProtectClock', 'ProtectKernelLogs',
            'ProtectKernelModules', 'ProtectProc', 'RestrictRealtime', 'RestrictSUIDSGID', 'LockPersonality',
            'RestrictNamespaces', 'SystemCallArchitectures', 'PrivateMounts'}
HERE = {'CapabilityBoundingSet', 'NoNewPrivileges', 'ProtectSystem', 'ProtectHome', 'PrivateTmp',
        'ProtectHostname', 'ProtectControlGroups', 'ProtectKernelTunables', 'MemoryDenyWriteExecute',
        'RestrictAddressFamilies', 'SystemCallFilter', 'SystemCallErrorNumber', 'UMask'}

libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]


class Arg(ctypes.Structure):
    _fields_ = [('arg', ctypes.c_uint), ('op', ctypes.c_int), ('a', ctypes.c_uint64), ('b', ctypes.c_uint64)]


def read(path):
    """[(key, value)] of the [Service] section."""
    section, rows = None, []
    for line in path.read_text().splitlines():
        line = line.strip()
        if line.startswith('['):
            section = line
        elif section == '[Service]' and line and line[0] not in '#;':
            rows.append(tuple(line.split('=', 1)))
    return rows


def restrictions(rows):
    """The rows that restrict; the first of them is UMask in the file's order."""
    names = [key for key, _ in rows]
    rows = rows[names.index('UMask'):]
    unknown = {key for key, _ in rows} - HERE - NOT_HERE
    if unknown:
        raise AssertionError(f'the sandbox does not know {sorted(unknown)}')
    return rows


def system_calls(rows):
    """What SystemCallFilter= allows, as systemd reads it: the first line makes the list, others change it."""
    def expand(name):
        if not name.startswith('@'):
            return {name}
        text = subprocess.run(['systemd-analyze', 'syscall-filter', '--no-pager', name], check=True,
                              capture_output=True, text=True, timeout=20).stdout
        words = [line.strip() for line in text.splitlines()[1:]]
        return set().union(*(expand(word) for word in words if word and word[0] != '#'))

    allowed = expand('@default')
    for value in (value for key, value in rows if key == 'SystemCallFilter'):
        names = set().union(*(expand(name) for name in value.lstrip('~').split()))
        allowed = allowed - names if value.startswith('~') else allowed | names
    return allowed


def check(result):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def mount(source, target, flags, kind=None):
    check(libc.mount(os.fsencode(source), os.fsencode(target), kind, flags, None))


def hide_files(writable):
    """ProtectSystem=strict, ProtectHome, PrivateTmp, ProtectKernelTunables, ProtectControlGroups: all of it
    read-only but /dev and `writable`, where the program and its directories also stay visible."""
    check(libc.unshare(CLONE_NEWNS | CLONE_NEWUTS))
    mount('none', '/', MS_REC | MS_PRIVATE)
    for path in writable:
        mount(path, path, MS_BIND)
    keep = tuple(str(path) for path in writable) + ('/dev',)
    with open('/proc/self/mounts', encoding='utf-8') as mounts:
        points = [line.split()[1].replace('\\040', ' ') for line in mounts]
    for point in points:
        if point.startswith(keep) or point == '/proc':
            continue
        try:
            mount('none', point, MS_REMOUNT | MS_BIND | MS_RDONLY)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINVAL, errno.EACCES):
                raise
    mount('/proc/sys', '/proc/sys', MS_BIND)
    mount('none', '/proc/sys', MS_REMOUNT | MS_BIND | MS_RDONLY)


def filter_calls(allowed, families):
    """Every other call, and a socket of another family, is EPERM (EAFNOSUPPORT)."""
    seccomp = ctypes.CDLL('libseccomp.so.2')
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    seccomp.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint,
                                               ctypes.POINTER(Arg)]
    seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
    context = seccomp.seccomp_init(0x50000 | errno.EPERM)
    for name in sorted(allowed - {'socket'}):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:                # others are of other processors
            check(seccomp.seccomp_rule_add_array(context, SCMP_ACT_ALLOW, number, 0, None))
    number = seccomp.seccomp_syscall_resolve_name(b'socket')
    for family in families:
        only = Arg(0, SCMP_CMP_EQ, family, 0)
        check(seccomp.seccomp_rule_add_array(context, SCMP_ACT_ALLOW, number, 1, ctypes.byref(only)))
    check(seccomp.seccomp_load(context))


def family(name):
    return 44 if name == 'AF_XDP' else int(getattr(socket, name))


def enter(unit, writable):
    """Returns what to call between fork and exec. `writable` are the directories that systemd would make for
    the unit, and whatever the program is loaded from."""
    rows = restrictions(read(unit))
    values = dict(rows)
    calls = system_calls(rows)
    families = [family(name) for name in values['RestrictAddressFamilies'].split()]
    kept = {name.removeprefix('CAP_').lower() for name in values['CapabilityBoundingSet'].split()}

    def sandbox():
        os.umask(int(values['UMask'], 8))
        hide_files(writable)
        for number, name in enumerate(CAPABILITIES):
            if name not in kept:
                check(libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
        if values['MemoryDenyWriteExecute'] == 'yes' and libc.prctl(PR_SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0):
            if ctypes.get_errno() != errno.EINVAL:         # a kernel before 6.3
                raise OSError(ctypes.get_errno(), 'PR_SET_MDWE')
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        filter_calls(calls | {'execve'}, families)
    return sandbox
