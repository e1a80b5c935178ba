package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aead.dev/minisign"
)

// SignatureEnding is what the name of an archive's signature has in addition.
const SignatureEnding = ".minisig"

// maxKey is the most bytes of a key file that are read.
const maxKey = 16 << 10

// Signer signs with a private key of minisign. password is asked if the key has one.
func Signer(path string, password func() (string, error)) (func(io.Reader, string) ([]byte, error), error) {
	raw, err := readAtMost(path, maxKey)
	if err != nil {
		return nil, err
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(raw) {
		text, err := password()
		if err != nil {
			return nil, err
		}
		if key, err = minisign.DecryptKey(text, raw); err != nil {
			return nil, fmt.Errorf("%s: the password is wrong, or it is no private key of minisign", path)
		}
	} else if err := key.UnmarshalText(raw); err != nil {
		return nil, fmt.Errorf("%s is no private key of minisign", path)
	}
	return func(archive io.Reader, comment string) ([]byte, error) {
		signed := minisign.NewReader(archive)
		if _, err := io.Copy(io.Discard, signed); err != nil {
			return nil, err
		}
		return signed.SignWithComments(key, comment, "signature of a Scrollery plugin"), nil
	}, nil
}

// PublicKey reads a public key of minisign: its text, or the path of its file.
func PublicKey(text string) (minisign.PublicKey, error) {
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(strings.TrimSpace(text))); err == nil {
		return key, nil
	}
	raw, err := readAtMost(text, maxKey)
	if errors.Is(err, os.ErrNotExist) {
		return key, fmt.Errorf("%.100q is neither a public key of minisign nor the path of one", text)
	}
	if err != nil {
		return key, err
	}
	if err := key.UnmarshalText(raw); err != nil {
		return key, fmt.Errorf("%s is no public key of minisign", text)
	}
	return key, nil
}

// verify fails unless the signature of what was read is of the key. It returns the comment
// that was signed with it.
func verify(read *minisign.Reader, key minisign.PublicKey, signature []byte) (string, error) {
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return "", errors.New("the signature cannot be read: it is none of minisign")
	}
	if s.KeyID != key.ID() {
		return "", fmt.Errorf("the signature is of the key %X, not of the key %X", s.KeyID, key.ID())
	}
	if s.Algorithm != minisign.HashEdDSA {
		return "", errors.New("the signature is of minisign's old form: sign with minisign 0.8 or later and its option -H, or with `scrollery plugins package`")
	}
	if !read.Verify(key, signature) {
		return "", errors.New("the archive is not what was signed, or the signature is forged")
	}
	return s.TrustedComment, nil
}
