//go:build unix

package storetest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// dropRoot has the command run as an ordinary user, since PostgreSQL refuses root.
func dropRoot(command *exec.Cmd, dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(account.Uid)
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(account.Gid)
		if err != nil {
			return err
		}
		command.Dir = dir
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return os.Chown(dir, uid, gid)
	}
	return errors.New("running as root, and there is no user to run PostgreSQL as")
}
