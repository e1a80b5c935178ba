package tiktok

import (
	"encoding/json"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage/site"
)

// FuzzPage: whatever comes, each video that has an id is one that the host takes.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{"data":{"videos":[{"id":7320768196569599275,"view_count":4,"username":"a","video_label":{"x":1}}],"cursor":1,"has_more":true,"search_id":"7"},"error":{"code":"ok"}}`,
		`{"data":{"videos":[{"id":"1","voice_to_text":"\ud83d","hashtag_names":[1,"\u0000"],"create_time":1e300}]}}`, `{"data":{"videos":null,"has_more":false}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		data, _ := read(site.Answer{Status: 200, Body: body})
		p, err := pageOf(data)
		if err != nil {
			return
		}
		for _, v := range p.videos {
			record := v.record()
			repairs, fault := record.Clean()
			if fault != nil || repairs.JSON > 0 || repairs.Text > 0 || !json.Valid(record.Metadata) {
				t.Fatalf("%+v: %v %s", repairs, fault, record.Metadata)
			}
		}
	})
}
