// Package peer authenticates a plugin and its host to each other. go-plugin's own way
// makes two keys on the curve P-521 for each start, which costs more than all the rest of
// it; here the host makes both, on P-256, and hands the plugin its own. A plugin that
// ignores the offer is authenticated in go-plugin's way.
package peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"
)

// The environment of a plugin.
const (
	// hostVariable is go-plugin's: the certificate of the host.
	hostVariable = "PLUGIN_CLIENT_CERT"
	// pluginVariable has the plugin's own certificate and key.
	pluginVariable = "SCROLLERY_PLUGIN_CERT"
)

// name is the one that go-plugin expects in a certificate.
const name = "localhost"

// life is longer than any host runs.
const life = 10 * 365 * 24 * time.Hour

// Host is the host's end. It has one key as long as it lives.
type Host struct {
	own   tls.Certificate
	trust string // its certificate, for plugins
}

// NewHost makes a key.
func NewHost() (*Host, error) {
	certificate, _, err := newKey()
	if err != nil {
		return nil, err
	}
	own, err := tls.X509KeyPair(certificate, certificate)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(certificate)
	return &Host{own, string(pem.EncodeToMemory(block))}, nil
}

// Plugin makes the key of one process. It returns the host's configuration for it and
// the environment that the process gets besides.
func (h *Host) Plugin() (*tls.Config, []string, error) {
	pair, certificate, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	// go-plugin replaces the pool where the plugin sends a certificate of its own.
	config := &tls.Config{Certificates: []tls.Certificate{h.own}, RootCAs: trusted, ServerName: name, MinVersion: tls.VersionTLS12}
	return config, []string{hostVariable + "=" + h.trust, pluginVariable + "=" + string(pair)}, nil
}

// Provide is the plugin's end, for go-plugin's TLSProvider. Where the host offered no
// key, it returns nil, and go-plugin makes one. Programs that the plugin starts do not
// get the key.
func Provide() (*tls.Config, error) {
	pair := []byte(os.Getenv(pluginVariable))
	if len(pair) == 0 {
		return nil, nil
	}
	if err := os.Unsetenv(pluginVariable); err != nil {
		return nil, err
	}
	return between(pair, []byte(os.Getenv(hostVariable)))
}

// Own is the plugin's end where the host offered no key: it makes one. It is nil if the
// host wants no encryption.
func Own() (*tls.Config, error) {
	host := os.Getenv(hostVariable)
	if host == "" {
		return nil, nil
	}
	pair, _, err := newKey()
	if err != nil {
		return nil, err
	}
	return between(pair, []byte(host))
}

// between is the configuration of a plugin with a key and a host's certificate.
func between(pair, host []byte) (*tls.Config, error) {
	own, err := tls.X509KeyPair(pair, pair)
	if err != nil {
		return nil, fmt.Errorf("the key for this plugin: %w", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(host) {
		return nil, errors.New("the host has no certificate")
	}
	return &tls.Config{
		Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted, MinVersion: tls.VersionTLS12,
	}, nil
}

// newKey returns a certificate that signs itself, with its key, as PEM.
func newKey() (pair []byte, certificate *x509.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, SerialNumber: number,
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(life), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	if certificate, err = x509.ParseCertificate(raw); err != nil {
		return nil, nil, err
	}
	pair = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	return append(pair, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})...), certificate, nil
}
