package formats

import "testing"

// TestObjectsThatHoldTables reads the ways in which programs write a table as JSON, at any depth.
func TestObjectsThatHoldTables(t *testing.T) {
	t.Parallel()
	const first, second = "7521900000000000001", "7521900000000000002"
	both := []string{first + " 5 - - -", second + " 6 - - -"}
	readEach(t, []reads{
		{"rows under their numbers", "a.json", `{"0":{"video_id":"` + first + `","views":5},"1":{"video_id":"` + second + `","views":6}}`, both, ""},
		{"other things under numbers", "a.json", `{"0":{"name":"a.example","posts":5},"1":{"name":"b.example","posts":6}}`, nil, "unknown_format"},
		{"lists by column in an object", "a.json", `{"exported":"2026-04-01","table":{"video_id":["` + first + `","` + second + `"],"views":[5,6],"likes":[4,null]}}`, []string{first + " 5 4 - -", second + " 6 - - -"}, ""},
		{"counts in an object under the id", "a.json", `{"videos":{"` + first + `":{"stats":{"playCount":5},"author":"a.example"},"` + second + `":{"stats":{"playCount":6},"author":"a.example"}}}`, both, "author Field:handle"},
		{"a list under any name", "a.json", `{"week":11,"clips_of_march":[{"video_id":"` + first + `","views":5},{"video_id":"` + second + `","views":6}]}`, both, ""},
		{"a list of something else", "a.json", `{"week":11,"clips_of_march":[{"id":"` + first + `","name":"a.example"},{"id":"` + second + `","name":"b.example"}]}`, nil, "unknown_format"},
		{"other videos in one", "a.json", `[{"url":"https://youtu.be/AAAAAAAAS01","views":5,"related":[{"id":"AAAAAAAAS08","views":99}],"duet_from":{"url":"https://youtu.be/AAAAAAAAS09","views":9000}}]`, []string{"AAAAAAAAS01 5 - - -"}, ""},
		{"a video beside others", "a.json", `{"video":{"url":"https://youtu.be/AAAAAAAAS01","views":5},"related":[{"url":"https://youtu.be/AAAAAAAAS08","views":99}]}`, []string{"AAAAAAAAS01 5 - - -"}, ""},
		{"videos of an account with views", "a.json", `{"url":"https://www.youtube.com/@a.example","views":99999,"videos":[{"url":"https://youtu.be/AAAAAAAAS01","views":5}]}`, []string{"AAAAAAAAS01 5 - - -"}, ""},
		{"counts that a list names", "a.json", `[{"link":"https://youtu.be/AAAAAAAAS01","stats":[{"key":"views","val":"1.2K"},{"key":"likes","val":34}]},{"link":"https://youtu.be/AAAAAAAAS02","stats":[{"key":"views","val":6}]}]`, []string{"AAAAAAAAS01 1200 34 - -", "AAAAAAAAS02 6 - - -"}, ""},
		{"a list that names a count twice", "a.json", `[{"link":"https://youtu.be/AAAAAAAAS01","likes":3,"stats":[{"name":"views","value":5},{"name":"views","value":6}]}]`, []string{"AAAAAAAAS01 - 3 - -"}, ""},
		{"a platform beside the list", "a.json", `{"platform":"youtube","items":[{"id":"AAAAAAAAS01","viewCount":5},{"id":"AAAAAAAAS02","viewCount":6}]}`, []string{"AAAAAAAAS01 5 - - -", "AAAAAAAAS02 6 - - -"}, ""},
		{"numbers of Python that are none", "a.json", `[{"video_id":"` + first + `","views":5,"likes":NaN,"title":"NaN \" NaN"},{"video_id":"` + second + `","views":6,"likes":-Infinity}]`, both, ""},
	})
}

// TestNamesOfCodebooks reads the short names that researchers give to columns.
func TestNamesOfCodebooks(t *testing.T) {
	t.Parallel()
	const first = "7521900000000000001"
	readEach(t, []reads{
		{"three letters", "a.csv", "vid_id,vid_vws,vid_lks,vid_comm,vid_shr\n" + first + ",500,40,7,3\n", []string{first + " 500 40 - -"}, "vid_shr Field:shares"},
		{"comments", "a.csv", "video_id,n_views,n_cmts\n" + first + ",500,7\n", []string{first + " 500 - - -"}, "n_cmts Field:comments"},
		{"counts", "a.csv", "video_id,view_ct,like_ct\n" + first + ",500,40\n", []string{first + " 500 40 - -"}, ""},
		{"the least", "a.csv", "video_id,min_views,views,duration_min\n" + first + ",5,500,2\n", []string{first + " 500 - - -"}, "duration_min Field:durationSeconds"},
		{"the least alone", "a.csv", "video_id,min_views,likes\n" + first + ",5,2\n", []string{first + " - 2 - -"}, ""},
		{"a text", "a.csv", "video_id,n_views,vid_comm\n" + first + ",500,nice pour\n", nil, "a column of comments"},
	})
}
