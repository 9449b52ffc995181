package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
)

func TestServerDiesWithItsTestBinary(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), "REDISTEST_ORPHAN="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var started, addr string
	if _, err := fmt.Fscan(out, &started, &addr); err != nil || started != "<nil>" {
		t.Fatalf("start in another test binary: %s %s, %v", started, addr, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	err = await(nil, func(ctx context.Context) error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return nil
		}
		return errors.Join(errors.New("the server lives on"), conn.Close())
	})
	if err != nil {
		t.Error(err)
	}
}
