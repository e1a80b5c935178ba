package ytdlp

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/ytdlp/ytdlptest"
)

// web is all of the internet: every host that the program asks for through its
// proxy is this one server.
type web struct {
	proxy  string
	caFile string
	mu     sync.Mutex
	hosts  []string
}

func newWeb(t *testing.T, handler http.HandlerFunc) *web {
	t.Helper()
	w := &web{}
	certificate, ca := certificates(t)
	w.caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(w.caFile, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	site := httptest.NewUnstartedServer(handler)
	site.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	site.Config.ErrorLog = log.New(io.Discard, "", 0)
	site.StartTLS()
	t.Cleanup(site.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go w.tunnel(conn, site.Listener.Addr().String())
		}
	}()
	w.proxy = "http://" + listener.Addr().String()
	return w
}

// tunnel leads every CONNECT to the one site.
func (w *web) tunnel(conn net.Conn, site string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	request, err := http.ReadRequest(in)
	if err != nil || request.Method != http.MethodConnect {
		return
	}
	w.mu.Lock()
	w.hosts = append(w.hosts, request.Host)
	w.mu.Unlock()
	out, err := net.Dial("tcp", site)
	if err != nil {
		return
	}
	defer out.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(out, in); out.Close() }()
	_, _ = io.Copy(conn, out)
}

// call is one that reaches this web and no other.
func (w *web) call(t *testing.T) stage.Call {
	t.Helper()
	t.Setenv("HTTPS_PROXY", w.proxy)
	t.Setenv("https_proxy", w.proxy)
	return stage.Call{Settings: map[string]string{"enabled": "yes", "ca_file": w.caFile}}
}

func certificates(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"www.youtube.com", "www.tiktok.com", "www.instagram.com", "*.tiktokv.com"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// real skips where the program is not installed; CI installs it.
func real(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("yt-dlp is not installed")
		}
		t.Skip("yt-dlp is not installed")
	}
}

// fake puts the double of yt-dlp in the place of the program. The script is what it does with the
// arguments of a run, once they are accepted.
func fake(t *testing.T, script string, unknown ...string) stage.Call {
	t.Helper()
	ytdlptest.Install(t, ytdlptest.Version, script, unknown...)
	return stage.Call{Settings: map[string]string{"enabled": "yes"}}
}
