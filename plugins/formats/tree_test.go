package formats

import "testing"

// TestTreesOfCollectors reads what Facepager exports: nodes under those that were put in by hand.
func TestTreesOfCollectors(t *testing.T) {
	t.Parallel()
	const head = "path;id;parent_id;level;object_id;object_type;query_status;query_time;query_type;"
	readEach(t, []reads{
		{"levels", "a.csv", head + "title;views;likes\n" +
			"a;1;;0;UCaaaaaaaaaaaaaaaaaaaaaa;seed;;;;;;\n" +
			"a/b;2;1;1;VVVhYWFhYWFh;data;fetched (200);2025-07-02 08:00:00.1;YouTube:playlistItems;pour;;\n" +
			"a/c;3;2;2;AAAAAAAAS03;data;fetched (200);2025-07-02 08:00:00.1;YouTube:videos;pour;5;2\n", []string{"AAAAAAAAS03 5 2 - -"}, "an id of YouTube has 11 characters"},
		{"ids put in by hand", "a.csv", head + "statistics.viewCount;snippet.title;snippet.publishedAt\n" +
			"AAAAAAAAS03;1;;0;AAAAAAAAS03;seed;;;;;;\n" +
			"AAAAAAAAS03;2;1;1;AAAAAAAAS03;data;fetched (200);2025-07-02 08:00:00;YouTube:videos;5;pour;2025-07-01T00:00:00Z\n", []string{"AAAAAAAAS03 5 - - 20270"}, `kind "seed"`},
		{"objects in cells", "a.csv", "id;parent_id;level;object_id;object_type;query_status;query_time;query_type;snippet;statistics\n" +
			`2;1;1;AAAAAAAAS03;data;fetched (200);2025-07-02 08:00:00;YouTube:videos;"{""publishedAt"":""2025-07-01T00:00:00Z""}";"{""viewCount"":""5"",""likeCount"":""2""}"` + "\n", []string{"AAAAAAAAS03 5 2 - 20270"}, ""},
		{"comments", "a.csv", head + "snippet.textDisplay;snippet.likeCount\n" +
			"a;2;1;1;UgxAAAAAAAAAAAAAAAAAAAAA;data;fetched (200);2025-07-02 08:00:00;YouTube:commentThreads;nice;5\n", nil, ""},
	})
}
