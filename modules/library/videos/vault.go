package videos

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// keyFile has the server's key in the data folder.
const keyFile = "secret.key"

// Names is the purpose of the hashes of tombstones, suppressions and receipts.
const Names = "tombstones"

// KeysOf are the server's keys: the text if there is one, else those of the file of the database's
// data folder.
func KeysOf(db *store.DB, text string) *secret.Keys {
	return secret.NewKeys(text, filepath.Join(db.Dir(), keyFile))
}

// vault hashes the names of what was deleted, and seals what can be brought back.
type vault struct {
	sealer *secret.Sealer
	hasher *secret.Hasher
}

// Vault seals and hashes with the server's keys. They are read when they are needed: a server that
// deletes nothing needs none.
type Vault struct{ open func() (*vault, error) }

func newVault(keys *secret.Keys) Vault {
	hasher := sync.OnceValues(func() (*secret.Hasher, error) { return keys.Hasher(Names) })
	return Vault{func() (*vault, error) {
		sealer, err := keys.Sealer()
		if err != nil {
			return nil, fmt.Errorf("read the server's key: %w", err)
		}
		h, err := hasher()
		return &vault{sealer, h}, err
	}}
}

// ofVideo is the hash of a video.
func (v *vault) ofVideo(ref stage.Ref) string {
	return v.hasher.Hash("video", ref.Platform, ref.ExternalID)
}

// ofCreator is the hash of a creator by a key of the table of creators, `id:…` or `handle:…`.
func (v *vault) ofCreator(platform, key string) string {
	return v.hasher.Hash("creator", platform, key)
}

// ofErasure is the hash of the mark by which an erasure counts an account.
func (v *vault) ofErasure(id int64) string {
	return v.hasher.Hash("erasure", strconv.FormatInt(id, 10))
}

// ofScroll is the hash under which a deletion keeps what a scroll read out of what other deletions
// bring back; an import that is undone, of no deletion, does so under one of its own.
func (v *vault) ofScroll(id int64, deletion bool) string {
	kind := "scroll"
	if !deletion {
		kind = "undone scroll"
	}
	return v.hasher.Hash(kind, strconv.FormatInt(id, 10))
}

// of are the hashes under which a tombstone keeps a record out: of the video, and of its
// creator by id, by handle, and by a handle without an id.
func (v *vault) of(r *stage.Record) []string {
	hashes := []string{v.ofVideo(r.Ref)}
	id, handle := strings.TrimSpace(clean(r.CreatorID)), ""
	if r.Source != nil {
		handle = score.Handle(clean(r.Source.Handle))
	}
	if id != "" {
		hashes = append(hashes, v.ofCreator(r.Platform, "id:"+id))
	}
	if handle != "" {
		hashes = append(hashes, v.ofCreator(r.Platform, "handle:"+handle))
	}
	if handle != "" && id == "" {
		hashes = append(hashes, v.ofCreator(r.Platform, "alone:"+handle))
	}
	return hashes
}

// Sign is the signature of a text with the server's key.
func (v Vault) Sign(purpose string, text []byte) (string, error) {
	keys, err := v.open()
	if err != nil {
		return "", err
	}
	return keys.hasher.Hash("signed", purpose, string(text)), nil
}

// Seal seals a text for its place among the rows of an account.
func (v Vault) Seal(account, id int64, text []byte) ([]byte, error) {
	keys, err := v.open()
	if err != nil {
		return nil, err
	}
	return keys.sealer.Seal(text, place(account, id)), nil
}

// Unseal opens what Seal made for the place.
func (v Vault) Unseal(account, id int64, sealed []byte) ([]byte, error) {
	keys, err := v.open()
	if err != nil {
		return nil, err
	}
	return keys.sealer.Open(sealed, place(account, id))
}

// Reseal seals with the newest key what Seal made for the place with an older one; nil if that
// was the newest.
func (v Vault) Reseal(account, id int64, sealed []byte) ([]byte, error) {
	keys, err := v.open()
	if err != nil || !keys.sealer.IsOld(sealed) {
		return nil, err
	}
	return keys.sealer.Reseal(sealed, place(account, id))
}

// HashesOf are the keyed hashes of the names of a creator.
func (v Vault) HashesOf(c CreatorName) ([]string, error) {
	keys, err := v.open()
	if err != nil {
		return nil, err
	}
	return c.hashes(keys), nil
}

func place(account, id int64) string {
	return fmt.Sprintf("deleted of %s %d", publicid.Format(publicid.Account, account), id)
}
