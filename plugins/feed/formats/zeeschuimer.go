package formats

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// envelope is what Zeeschuimer puts around what a page loaded.
type envelope struct {
	Platform  text   `json:"source_platform"`
	Collected number `json:"timestamp_collected"`
	// Updated is when a later page replaced the data.
	Updated number         `json:"last_updated"`
	Data    jsontext.Value `json:"data"`
}

// envelope reads what is in one.
func (r *reading) envelope(raw []byte, line, depth int) error {
	var e envelope
	if err := decode(raw, &e); err != nil {
		r.skip(Malformed, line, err.Error())
		return nil
	}
	if forced := r.options.Format; forced != "" && forced != Zeeschuimer {
		r.skip(UnknownForm, line, "an envelope of Zeeschuimer")
		return nil
	}
	platform := strings.ToLower(string(e.Platform))
	if platform != "tiktok.com" && platform != "instagram.com" {
		r.skip(OtherPlatform, line, "captured on a platform that is not read")
		return nil
	}
	at := e.Updated.value
	if at == nil {
		at = e.Collected.value
	}
	if depth >= maxDepth {
		r.skip(Malformed, line, "envelopes in envelopes")
		return nil
	}
	return r.value(e.Data, scope{observed: at, format: Zeeschuimer}, line, depth+1)
}

// importMeta is where 4CAT keeps the envelope.
type importMeta struct {
	Meta sub[struct {
		Collected number `json:"timestamp_collected"`
		Updated   number `json:"last_updated"`
	}] `json:"__import_meta"`
}

func metaTime(raw []byte) *int64 {
	var m importMeta
	if decode(raw, &m) != nil {
		return nil
	}
	if m.Meta.v.Updated.value != nil {
		return m.Meta.v.Updated.value
	}
	return m.Meta.v.Collected.value
}
