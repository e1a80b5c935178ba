package formats

import "testing"

// TestNamesOfCodebooks reads the short names that researchers give to columns.
func TestNamesOfCodebooks(t *testing.T) {
	t.Parallel()
	const first = "7521900000000000001"
	readEach(t, []reads{
		{"three letters", "a.csv", "vid_id,vid_vws,vid_lks,vid_comm,vid_shr\n" + first + ",500,40,7,3\n", []string{first + " 500 40 - -"}, "vid_shr Field:shares"},
		{"comments", "a.csv", "video_id,n_views,n_cmts\n" + first + ",500,7\n", []string{first + " 500 - - -"}, "n_cmts Field:comments"},
		{"counts", "a.csv", "video_id,view_ct,like_ct\n" + first + ",500,40\n", []string{first + " 500 40 - -"}, ""},
		{"a text", "a.csv", "video_id,n_views,vid_comm\n" + first + ",500,nice pour\n", nil, "a column of comments"},
	})
}
