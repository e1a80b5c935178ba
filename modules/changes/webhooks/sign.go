package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// newSecret returns the bytes of a secret.
func newSecret() []byte {
	raw := make([]byte, secretBytes)
	rand.Read(raw) // never fails
	return raw
}

// showSecret is the form in which its owner gets it.
func showSecret(raw []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(raw) }

// sign returns the header webhook-signature: a signature for each secret.
func sign(secrets [][]byte, id string, at time.Time, body []byte) string {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
