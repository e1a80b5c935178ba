package recipe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// double is a provider as its pages have it; the head of its recipe names them, with dates. It refuses
// what they do not name, and its answers have their members with values of ours.
type double struct {
	key      func(*http.Request) string
	refusal  func(status int, words string) string
	refused  int                // the status for a key that is not known, 401 if none
	requests map[string]doubled // by method and path, and by a dataset if there are several
}

// doubled is one request: the parameters and members that its page names, those that it needs, and the
// answer of a page.
type doubled struct {
	params, needed, members []string
	answer                  func(r *http.Request, body map[string]any, page int) any
}

const doubleKey = "k-9f31c2d7"

func (d double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, words string) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, d.refusal(status, words))
	}
	if d.key(r) != doubleKey {
		refuse(cmp.Or(d.refused, http.StatusUnauthorized), "the key "+d.key(r)+" is not known")
		return
	}
	query := r.URL.Query()
	q, known := d.requests[strings.TrimSpace(r.Method+" "+r.URL.Path+" "+query.Get("dataset_id"))]
	if !known {
		refuse(http.StatusNotFound, "no such path")
		return
	}
	for name := range query {
		if !slices.Contains(q.params, name) {
			refuse(http.StatusBadRequest, "no parameter "+name)
			return
		}
	}
	body := map[string]any{}
	_ = json.NewDecoder(r.Body).Decode(&body)
	members := named(body, "")
	for _, name := range members {
		if !slices.Contains(q.members, name) {
			refuse(http.StatusBadRequest, "no input "+name)
			return
		}
	}
	for _, name := range q.needed {
		if !query.Has(name) && !slices.Contains(members, name) {
			refuse(http.StatusBadRequest, name+" is required")
			return
		}
	}
	page := 1
	for _, name := range []string{"cursor", "start_cursor", "max_cursor", "max_id", "continuationToken", "page"} {
		if text := strings.TrimPrefix(query.Get(name), "p"); text != "" {
			_, _ = fmt.Sscan(text, &page)
		}
	}
	_ = json.NewEncoder(w).Encode(q.answer(r, body, page))
}

// named are the members of a value with something in them, through the objects and lists on the way.
func named(value any, path string) (all []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			all = append(all, named(one, strings.TrimPrefix(path+"."+name, "."))...)
		}
	case []any:
		for _, one := range v {
			all = append(all, named(one, path)...)
		}
	case nil:
	default:
		all = []string{path}
	}
	return all
}

func aweme(n int) map[string]any {
	return map[string]any{
		"aweme_id": fmt.Sprint(7400000000000000000 + n), "desc": "A kettle #tea", "create_time": 1780000000 + n, "share_url": "", "url": "https://www.tiktok.com/@ada/video/1",
		"author":     map[string]any{"unique_id": "ada", "uid": "6659752019493208069", "follower_count": 5},
		"statistics": map[string]any{"play_count": 1000 + n, "digg_count": 9, "comment_count": 3, "share_count": 2, "collect_count": 1},
		"music":      map[string]any{"id_str": "7370375686554782506", "title": "Kettle"}, "video": map[string]any{"duration": 21000},
	}
}

// list has n items of a page, each with a number of its own.
func list(page, n int, item func(int) map[string]any) (all []map[string]any) {
	for i := range n {
		all = append(all, item(100*page+i))
	}
	return all
}

// until is the cursor of the next page while there are fewer pages than most.
func until(page, most int) any {
	if page >= most {
		return nil
	}
	return fmt.Sprintf("p%d", page+1)
}

// scrapeCreators is as its reference of 2026-08-21 has it; see the head of the recipe. Cursors are texts
// here, which the recipe must not read.
func scrapeCreators() double {
	base := func(members map[string]any) map[string]any {
		members["success"], members["credits_remaining"], members["credits_charged"] = true, 100, 1
		return members
	}
	return double{
		key: func(r *http.Request) string { return r.Header.Get("x-api-key") },
		refusal: func(status int, words string) string {
			text, _ := json.Marshal(map[string]any{"success": false, "credits_remaining": 100, "errorStatus": status, "message": words})
			return string(text)
		},
		requests: map[string]doubled{
			"GET /v3/tiktok/profile/videos": {params: []string{"handle", "user_id", "sort_by", "max_cursor", "region", "trim"}, needed: []string{"handle"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"aweme_list": list(page, 10, aweme), "max_cursor": until(page, 3)})
			}},
			"GET /v1/tiktok/search/keyword": {params: []string{"query", "date_posted", "sort_by", "region", "cursor", "trim"}, needed: []string{"query"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"search_item_list": list(page, 10, func(n int) map[string]any { return map[string]any{"aweme_info": aweme(n)} }), "cursor": until(page, 2)})
			}},
			"GET /v1/tiktok/song/videos": {params: []string{"clipId", "cursor"}, needed: []string{"clipId"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"aweme_list": list(page, 5, aweme), "cursor": fmt.Sprintf("p%d", page+1), "has_more": map[bool]int{true: 1}[page < 2], "status_code": 0})
			}},
			"GET /v2/tiktok/video": {params: []string{"url", "get_transcript", "region", "trim", "download_media", "cache_max_age"}, needed: []string{"url"}, answer: func(r *http.Request, _ map[string]any, _ int) any {
				one := aweme(0)
				one["aweme_id"] = r.URL.Query().Get("url")[len("https://www.tiktok.com/@_/video/"):]
				return base(map[string]any{"aweme_detail": one, "status_code": 0})
			}},
			"GET /v1/instagram/user/reels": {params: []string{"user_id", "handle", "max_id", "trim"}, needed: []string{"handle"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"items": list(page, 6, func(n int) map[string]any {
					return map[string]any{"media": map[string]any{
						"taken_at": 1780000000 + n, "pk": fmt.Sprint(3540614075954356349 + n), "code": fmt.Sprintf("DKKtpqaxg%d", n), "media_type": 2, "product_type": "clips", "caption": map[string]any{"text": "A kettle"},
						"play_count": 900 + n, "ig_play_count": 900 + n, "like_count": 7, "comment_count": 1, "video_duration": 12.5, "user": map[string]any{"username": "ada", "pk": "2700692569"},
					}}
				}), "paging_info": map[string]any{"max_id": fmt.Sprintf("p%d", page+1), "more_available": page < 2}, "status": "ok"})
			}},
			"GET /v2/instagram/reels/search": {params: []string{"query", "date_posted", "page"}, needed: []string{"query"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"reels": list(page, 4, func(n int) map[string]any {
					return map[string]any{
						"id": fmt.Sprint(3723045213787686915 + n), "shortcode": fmt.Sprintf("DOq6eV6i%d", n), "url": fmt.Sprintf("https://www.instagram.com/reel/DOq6eV6i%d/", n), "caption": "Tea", "product_type": "clips", "is_video": true,
						"video_duration": 75.7, "taken_at": "2025-09-16T16:56:45.000Z", "like_count": 9, "comment_count": 2, "owner": map[string]any{"id": "70127159370", "username": "ada", "follower_count": 188},
						"clips_music_attribution_info": map[string]any{"audio_id": "1711608879787237", "song_name": "Kettle"},
					}
				})})
			}},
			"GET /v1/youtube/channel/shorts": {params: []string{"handle", "channelId", "sort", "continuationToken"}, needed: []string{"handle"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"videos": []any{}, "shorts": list(page, 5, func(n int) map[string]any {
					return map[string]any{
						"type": "short", "id": fmt.Sprintf("VREVC0w%04d", n), "url": "https://www.youtube.com/watch?v=x", "title": "A kettle", "description": "Tea #kettle", "viewCountText": "17,066", "viewCountInt": 17066 + n,
						"commentCountInt": 2, "likeCountInt": 495, "publishDate": "2026-04-22T10:44:35-07:00", "durationMs": 37000,
					}
				}), "continuationToken": until(page, 2)})
			}},
		},
	}
}

// apify is run-sync-get-dataset-items as its reference has it, with five actors; see the head of the recipe.
func apify() double {
	options := []string{"timeout", "memory", "maxItems", "maxTotalChargeUsd", "build", "format", "clean", "limit", "offset"}
	most := func(body map[string]any, name string) int {
		n, _ := body[name].(float64)
		return min(int(n), 30)
	}
	reels := func(body map[string]any, page int) any {
		return list(page, most(body, "resultsLimit"), func(n int) map[string]any {
			return map[string]any{
				"id": fmt.Sprint(3869167893477101612 + n), "type": "Video", "shortCode": fmt.Sprintf("DWyC7MLD%d", n), "caption": "Tea", "url": fmt.Sprintf("https://www.instagram.com/p/DWyC7MLD%d/", n),
				"likesCount": 4, "commentsCount": 1, "videoPlayCount": 100 + n, "videoViewCount": 50, "ownerUsername": "ada", "ownerId": "7", "timestamp": "2026-04-06T10:00:00.000Z", "productType": "clips",
			}
		})
	}
	shorts := func(body map[string]any, page int) any {
		return list(page, most(body, "maxResultsShorts"), func(n int) map[string]any {
			id := fmt.Sprintf("VREVC0w%04d", n)
			return map[string]any{
				"type": "shorts", "id": id, "url": "https://www.youtube.com/shorts/" + id, "title": "A kettle", "text": "Tea #kettle", "viewCount": 100 + n, "likes": 9, "commentsCount": 1, "date": "2026-04-06T10:00:00.000Z",
				"duration": "00:00:37", "channelName": "Ada", "channelUsername": "ada", "channelUrl": "https://www.youtube.com/@ada", "channelId": "UCada00000000000000000ad", "numberOfSubscribers": 5,
			}
		})
	}
	return double{
		key: func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") },
		refusal: func(_ int, words string) string {
			text, _ := json.Marshal(map[string]any{"error": map[string]any{"type": "invalid-input", "message": words}})
			return string(text)
		},
		requests: map[string]doubled{
			"POST /v2/acts/clockworks~tiktok-scraper/run-sync-get-dataset-items": {
				params: options, needed: []string{"maxItems", "maxTotalChargeUsd", "resultsPerPage"},
				members: []string{"profiles", "hashtags", "searchQueries", "postURLs", "resultsPerPage", "profileSorting", "profileScrapeSections", "excludePinnedPosts", "shouldDownloadVideos"},
				answer: func(_ *http.Request, body map[string]any, page int) any {
					return list(page, most(body, "resultsPerPage"), func(n int) map[string]any {
						id := fmt.Sprint(7400000000000000000 + n)
						return map[string]any{
							"id": id, "text": "A kettle", "createTime": 1780000000, "createTimeISO": "2026-05-28T20:26:40.000Z", "authorMeta": map[string]any{"id": "1", "name": "ada", "fans": 5},
							"playCount": 100 + n, "diggCount": 9, "commentCount": 1, "shareCount": 2, "collectCount": 3, "webVideoUrl": "https://www.tiktok.com/@ada/video/" + id, "videoMeta": map[string]any{"duration": 20}, "hashtags": []any{map[string]any{"name": "tea"}},
						}
					})
				},
			},
			"POST /v2/acts/apify~instagram-reel-scraper/run-sync-get-dataset-items": {
				params: options, needed: []string{"maxItems", "maxTotalChargeUsd", "resultsLimit", "username"}, members: []string{"username", "resultsLimit", "onlyPostsNewerThan", "skipPinnedPosts", "skipTrialReels"},
				answer: func(_ *http.Request, body map[string]any, page int) any { return reels(body, page) },
			},
			"POST /v2/acts/apify~instagram-hashtag-scraper/run-sync-get-dataset-items": {
				params: options, needed: []string{"maxItems", "maxTotalChargeUsd", "resultsLimit", "hashtags"}, members: []string{"hashtags", "keywordSearch", "resultsType", "resultsLimit"},
				answer: func(_ *http.Request, body map[string]any, page int) any {
					if body["resultsType"] != "reels" || body["keywordSearch"] != true { // posts without views, or a tag with a space
						return []any{}
					}
					return reels(body, page)
				},
			},
			"POST /v2/acts/streamers~youtube-shorts-scraper/run-sync-get-dataset-items": {
				params: options, needed: []string{"maxItems", "maxTotalChargeUsd", "channels", "maxResultsShorts"}, members: []string{"channels", "maxResultsShorts", "oldestPostDate"},
				answer: func(_ *http.Request, body map[string]any, page int) any { return shorts(body, page) },
			},
			"POST /v2/acts/streamers~youtube-scraper/run-sync-get-dataset-items": {
				params: options, needed: []string{"maxItems", "maxTotalChargeUsd", "searchQueries", "maxResults", "maxResultsShorts", "maxResultStreams"},
				members: []string{"searchQueries", "startUrls", "maxResults", "maxResultsShorts", "maxResultStreams", "sortingOrder", "sortVideosBy", "downloadSubtitles"},
				answer:  func(_ *http.Request, body map[string]any, page int) any { return shorts(body, page) },
			},
		},
	}
}

// ensembleData is as its client of 2024-09-24 and its guide have it; see the head of the recipe. The next
// cursor is missing after the last page.
func ensembleData() double {
	paged := func(page, most int, data any) map[string]any {
		answer := map[string]any{"data": data}
		if next := until(page, most); next != nil {
			answer["nextCursor"] = next
		}
		return answer
	}
	return double{
		key:     func(r *http.Request) string { return r.URL.Query().Get("token") },
		refused: 491,
		refusal: func(_ int, words string) string {
			text, _ := json.Marshal(map[string]any{"detail": words})
			return string(text)
		},
		requests: map[string]doubled{
			"GET /apis/tt/user/posts": {params: []string{"username", "depth", "start_cursor", "oldest_createtime", "alternative_method", "token"}, needed: []string{"username", "depth"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return paged(page, 3, list(page, 10, aweme))
			}},
			"GET /apis/tt/keyword/search": {params: []string{"name", "cursor", "period", "sorting", "country", "match_exactly", "get_author_stats", "token"}, needed: []string{"name", "period"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return map[string]any{"data": paged(page, 2, list(page, 20, func(n int) map[string]any { return map[string]any{"type": 1, "aweme_info": aweme(n)} }))}
			}},
			"GET /apis/tt/music/posts": {params: []string{"music_id", "cursor", "token"}, needed: []string{"music_id"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				answer := paged(page, 2, nil)
				delete(answer, "data")
				answer["aweme_list"] = list(page, 5, aweme)
				return map[string]any{"data": answer}
			}},
			"GET /apis/tt/post/multi-info": {params: []string{"ids", "token"}, needed: []string{"ids"}, answer: func(r *http.Request, _ map[string]any, _ int) any {
				one := aweme(0)
				one["aweme_id"] = r.URL.Query().Get("ids")
				return map[string]any{"data": []any{one}}
			}},
		},
	}
}

// numbered has an object with numbers for members in place of each list.
func numbered(value any) any {
	text, _ := json.Marshal(value)
	var raw any
	_ = json.Unmarshal(text, &raw)
	var walk func(any) any
	walk = func(value any) any {
		switch v := value.(type) {
		case map[string]any:
			for name, one := range v {
				v[name] = walk(one)
			}
		case []any:
			all := map[string]any{}
			for i, one := range v {
				all[strconv.Itoa(i)] = walk(one)
			}
			return all
		}
		return value
	}
	return walk(raw)
}

// sociaVault is as its list of requests and the answers that callers recorded have it; see the head of
// the recipe.
func sociaVault() double {
	base := func(data map[string]any) any {
		return map[string]any{"success": true, "data": numbered(data), "credits_used": 1, "endpoint": "/v1/scrape"}
	}
	full := func(n int) map[string]any {
		one := aweme(n)
		one["text_extra"] = []any{map[string]any{"hashtag_name": "tea", "type": 1}}
		one["cha_list"] = []any{map[string]any{"cha_name": "tea", "cid": "1"}}
		return one
	}
	return double{
		key: func(r *http.Request) string { return r.Header.Get("X-API-Key") },
		refusal: func(status int, words string) string {
			text, _ := json.Marshal(map[string]any{"error": http.StatusText(status), "message": words, "statusCode": status})
			return string(text)
		},
		requests: map[string]doubled{
			"GET /v1/scrape/tiktok/videos": {params: []string{"handle", "user_id", "sort_by", "max_cursor", "trim"}, needed: []string{"handle"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"aweme_list": list(page, 10, full), "max_cursor": until(page, 3)})
			}},
			"GET /v1/scrape/tiktok/search/keyword": {params: []string{"query", "date_posted", "sort_by", "region", "cursor", "trim"}, needed: []string{"query"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"search_item_list": list(page, 10, func(n int) map[string]any { return map[string]any{"aweme_info": full(n)} }), "cursor": fmt.Sprintf("p%d", page+1), "has_more": map[bool]int{true: 1}[page < 2]})
			}},
			"GET /v1/scrape/tiktok/music/videos": {params: []string{"clipId", "cursor"}, needed: []string{"clipId"}, answer: func(_ *http.Request, _ map[string]any, page int) any {
				return base(map[string]any{"aweme_list": list(page, 20, full)})
			}},
			"GET /v1/scrape/tiktok/video-info": {params: []string{"url", "get_transcript", "region", "trim"}, needed: []string{"url"}, answer: func(r *http.Request, _ map[string]any, _ int) any {
				one := full(0)
				one["aweme_id"] = r.URL.Query().Get("url")[len("https://www.tiktok.com/@_/video/"):]
				return base(map[string]any{"aweme_detail": one})
			}},
		},
	}
}

// brightData is /datasets/v3/scrape as its reference has it, with three datasets; see the head of the
// recipe. Counts are texts in some answers.
func brightData() double {
	options := []string{"dataset_id", "custom_output_fields", "include_errors", "format", "notify"}
	dead := func(input any) any {
		return []any{map[string]any{"timestamp": "2026-08-31T10:00:00.000Z", "input": input, "error": "Page does not exist", "error_code": "dead_page"}}
	}
	input := func(body map[string]any, address string) (one map[string]any, id string) {
		all, _ := body["input"].([]any)
		if len(all) == 1 {
			one, _ = all[0].(map[string]any)
		}
		text, _ := one["url"].(string)
		if rest, is := strings.CutPrefix(text, address); is {
			id = strings.TrimSuffix(rest, "/")
		}
		return one, id
	}
	return double{
		key: func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") },
		refusal: func(status int, words string) string {
			if status == http.StatusUnauthorized {
				return "Invalid credentials"
			}
			text, _ := json.Marshal(map[string]any{"error": words, "code": "validation_error"})
			return string(text)
		},
		requests: map[string]doubled{
			"POST /datasets/v3/scrape gd_m7n5v2gq296pex2f5m": {
				params: options, needed: []string{"input.url"}, members: []string{"input.url", "input.num_of_posts", "input.start_date", "input.end_date"},
				answer: func(_ *http.Request, body map[string]any, page int) any {
					one, handle := input(body, "https://www.tiktok.com/@")
					if handle == "" {
						return dead(one)
					}
					n, _ := one["num_of_posts"].(float64)
					return list(page, int(n), func(n int) map[string]any {
						id := fmt.Sprint(7400000000000000000 + n)
						return map[string]any{
							"url": "https://www.tiktok.com/@" + handle + "/video/" + id, "post_id": id, "description": "A kettle #tea", "create_time": "2026-05-28T20:26:40.000Z",
							"play_count": fmt.Sprint(100 + n), "digg_count": 9, "comment_count": "3", "share_count": "2", "collect_count": 1, "video_duration": 20, "hashtags": []string{"tea"},
							"profile_id": "6659752019493208069", "profile_username": handle, "profile_url": "https://www.tiktok.com/@" + handle, "is_verified": false, "input": one,
						}
					})
				},
			},
			"POST /datasets/v3/scrape gd_lyclm20il4r5helnj": {
				params: options, needed: []string{"input.url"}, members: []string{"input.url"},
				answer: func(_ *http.Request, body map[string]any, _ int) any {
					one, id := input(body, "https://www.instagram.com/reel/")
					if id == "" {
						return dead(one)
					}
					return []any{map[string]any{
						"url": one["url"], "user_posted": "ada", "description": "A kettle", "hashtags": nil, "num_comments": 3, "date_posted": "2026-04-06T10:00:00.000Z", "likes": 9, "views": 400,
						"video_play_count": 1000, "post_id": "3869167893477101612", "shortcode": id, "product_type": "clips", "length": "15.033", "followers": 5, "is_paid_partnership": false, "input": one,
					}}
				},
			},
			"POST /datasets/v3/scrape gd_lk56epmy2i5g7lzu0k": {
				params: options, needed: []string{"input.url"}, members: []string{"input.url", "input.country", "input.transcription_language"},
				answer: func(_ *http.Request, body map[string]any, _ int) any {
					one, id := input(body, "https://www.youtube.com/watch?v=")
					if id == "" {
						return dead(one)
					}
					return []any{map[string]any{
						"url": one["url"], "title": "A kettle", "youtuber": "@ada", "video_length": 37, "likes": 9, "views": 1000, "date_posted": "2026-04-22T10:44:35.000Z", "description": "Tea",
						"num_comments": 3, "subscribers": 5, "video_id": id, "channel_url": "https://www.youtube.com/@ada", "shortcode": id, "handle_name": "Ada", "tags": nil, "input": one,
					}}
				},
			},
		},
	}
}

// asked is what a shipped recipe brings from its double for one seed.
func asked(t *testing.T, id string, handler http.Handler, seed stage.Seed) (records []stage.Record, o stage.Outcome, spent int64) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	recipe, err := Parse(Shipped()[id])
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{recipe: recipe, clock: sitetest.NewClock(time.Date(2026, 9, 1, 16, 10, 0, 0, time.UTC)), limit: 1 << 50}
	call := newBenchCall(b, server.URL)
	call.Secrets["api_key"] = doubleKey
	records, outcomes, err := stagetest.Collect(t, recipe.spec(site.Options{Clock: b.clock, Timeout: time.Second}, nil), call, []stage.Seed{seed})
	if err != nil || len(outcomes) != 1 {
		t.Fatalf("%+v, error %v; want one outcome", outcomes, err)
	}
	return records, outcomes[0], b.spent
}

// TestShippedRecipesAgainstTheirPages: each request of each shipped recipe brings videos with views, times
// and creators from a double that refuses what the provider's pages do not name, for the counted price.
func TestShippedRecipesAgainstTheirPages(t *testing.T) {
	t.Parallel()
	handle := func(platform string) stage.Seed { return stage.Seed{Platform: platform, Handle: "ada"} }
	for name, c := range map[string]struct {
		id     string
		double double
		seed   stage.Seed
		videos int
		views  bool
		spent  int64
	}{
		"scrapecreators, TikTok handle":    {"scrapecreators", scrapeCreators(), handle("tiktok"), 30, true, 6_000},
		"scrapecreators, TikTok term":      {"scrapecreators", scrapeCreators(), stage.Seed{Platform: "tiktok", Term: "latte art"}, 20, true, 4_000},
		"scrapecreators, TikTok sound":     {"scrapecreators", scrapeCreators(), stage.Seed{Platform: "tiktok", Term: "sound:7370375686554782506"}, 10, true, 4_000},
		"scrapecreators, Instagram handle": {"scrapecreators", scrapeCreators(), handle("instagram"), 12, true, 4_000},
		"scrapecreators, Instagram term":   {"scrapecreators", scrapeCreators(), stage.Seed{Platform: "instagram", Term: "tea"}, 4, false, 2_000},
		"scrapecreators, YouTube handle":   {"scrapecreators", scrapeCreators(), handle("youtube"), 10, true, 4_000},
		"ensembledata, TikTok handle":      {"ensembledata", ensembleData(), handle("tiktok"), 30, true, 6_900},
		"ensembledata, TikTok term":        {"ensembledata", ensembleData(), stage.Seed{Platform: "tiktok", Term: "latte art"}, 40, true, 4_600},
		"ensembledata, TikTok sound":       {"ensembledata", ensembleData(), stage.Seed{Platform: "tiktok", Term: "sound:7370375686554782506"}, 10, true, 4_600},
		"sociavault, TikTok handle":        {"sociavault", sociaVault(), handle("tiktok"), 30, true, 15_000},
		"sociavault, TikTok term":          {"sociavault", sociaVault(), stage.Seed{Platform: "tiktok", Term: "latte art"}, 20, true, 10_000},
		"sociavault, TikTok sound":         {"sociavault", sociaVault(), stage.Seed{Platform: "tiktok", Term: "sound:7370375686554782506"}, 20, true, 5_000},
		"brightdata, TikTok handle":        {"brightdata", brightData(), handle("tiktok"), 20, true, 30_000},
		"apify, TikTok handle":             {"apify", apify(), handle("tiktok"), 30, true, 160_000},
		"apify, TikTok term":               {"apify", apify(), stage.Seed{Platform: "tiktok", Term: "tea"}, 30, true, 160_000},
		"apify, Instagram handle":          {"apify", apify(), handle("instagram"), 30, true, 160_000},
		"apify, Instagram term":            {"apify", apify(), stage.Seed{Platform: "instagram", Term: "latte art"}, 30, true, 160_000},
		"apify, YouTube handle":            {"apify", apify(), handle("youtube"), 30, true, 160_000},
		"apify, YouTube term":              {"apify", apify(), stage.Seed{Platform: "youtube", Term: "latte art"}, 30, true, 160_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, o, spent := asked(t, c.id, c.double, c.seed)
			if o.Status != stage.OK || len(records) != c.videos || spent != c.spent {
				t.Fatalf("%+v, %d records for %d; want ok, %d for %d", o, len(records), spent, c.videos, c.spent)
			}
			r := records[0]
			if (r.Metrics.Views != nil) != c.views || r.Metrics.Likes == nil || r.Metrics.Comments == nil || r.PostedAt == nil || r.Platform != c.seed.Platform || !strings.Contains(string(r.Metadata), "caption") {
				t.Errorf("%+v; want likes, comments, time and caption, views: %v", r, c.views)
			}
		})
	}
}

// TestShippedRecipesReadOneAgain: a known video is read again by its id.
func TestShippedRecipesReadOneAgain(t *testing.T) {
	t.Parallel()
	tiktok := stage.Ref{Platform: "tiktok", ExternalID: "7400000000000000123"}
	for name, c := range map[string]struct {
		id     string
		double double
		ref    stage.Ref
		views  int64
		spent  int64
	}{
		"scrapecreators":        {"scrapecreators", scrapeCreators(), tiktok, 1000, 2_000},
		"ensembledata":          {"ensembledata", ensembleData(), tiktok, 1000, 2_300},
		"sociavault":            {"sociavault", sociaVault(), tiktok, 1000, 5_000},
		"brightdata, Instagram": {"brightdata", brightData(), stage.Ref{Platform: "instagram", ExternalID: "DWyC7MLDxyz"}, 1000, 1_500},
		"brightdata, YouTube":   {"brightdata", brightData(), stage.Ref{Platform: "youtube", ExternalID: "VREVC0w0001"}, 1000, 1_500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.double)
			t.Cleanup(server.Close)
			recipe, err := Parse(Shipped()[c.id])
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{recipe: recipe, clock: sitetest.NewClock(time.Now()), limit: 1 << 50}
			call := newBenchCall(b, server.URL)
			call.Secrets["api_key"], call.Settings["refreshes"] = doubleKey, "5"
			records, outcomes, err := stagetest.Refresh(t, recipe.spec(site.Options{Clock: b.clock}, nil), call, []stage.Ref{c.ref})
			if err != nil || len(records) != 1 || *records[0].Metrics.Views != c.views || outcomes[0].Status != stage.OK || b.spent != c.spent {
				t.Errorf("%+v, %+v, error %v, for %d; want one reading for %d", records, outcomes, err, b.spent, c.spent)
			}
		})
	}
}

// TestErrorsOfShippedRecipes: what each provider answers in place of videos, what it means, and its cost.
func TestErrorsOfShippedRecipes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id     string
		status int
		body   string
		want   stage.Status
		spent  int64
	}{
		"ensembledata, a token it does not know":     {"ensembledata", 491, `{"detail":"invalid token"}`, stage.Misconfigured, 2_300},
		"ensembledata, a subscription that ended":    {"ensembledata", 493, `{"detail":"subscription expired"}`, stage.Misconfigured, 2_300},
		"ensembledata, no units":                     {"ensembledata", 495, `{"detail":"units depleted"}`, stage.Quota, 2_300},
		"ensembledata, too fast":                     {"ensembledata", 429, `{"detail":"rate limit exceeded"}`, stage.Quota, 2_300},
		"ensembledata, nobody of that name":          {"ensembledata", 473, `{"detail":"user not found"}`, stage.NotFound, 2_300},
		"ensembledata, a creator who shows nothing":  {"ensembledata", 472, `{"detail":"private user"}`, stage.Empty, 2_300},
		"ensembledata, a parameter it does not know": {"ensembledata", 422, `{"detail":[{"loc":["query","depth"]}]}`, stage.Changed, 2_300},
		"apify, an actor that goes on":               {"apify", 408, `{"error":{"type":"run-timeout-exceeded"}}`, stage.Blocked, 260_000},
		"apify, no credit":                           {"apify", 402, `{"error":{"type":"not-enough-usage"}}`, stage.Quota, 0},
		"apify, it is down":                          {"apify", 502, ``, stage.Blocked, 1_040_000},
		"brightdata, over a minute":                  {"brightdata", 202, `{"snapshot_id":"s_m4x7enmven8djfqak","message":"Your request is still in progress"}`, stage.Blocked, 30_000},
		"brightdata, nobody of that name":            {"brightdata", 200, `[{"error":"Page does not exist","error_code":"dead_page"}]`, stage.NotFound, 0},
		"brightdata, a page that it could not read":  {"brightdata", 200, `[{"error":"Crawl failed","error_code":"crawl_error"}]`, stage.Blocked, 30_000},
		"brightdata, too many at once":               {"brightdata", 429, `{"error":"You have too many running jobs for this dataset"}`, stage.Quota, 0},
		"brightdata, a dataset that is gone":         {"brightdata", 404, `Collector not found`, stage.Changed, 0},
		"brightdata, no money":                       {"brightdata", 402, `{"error":"Your current balance is insufficient"}`, stage.Quota, 0},
		"brightdata, a key that it does not know":    {"brightdata", 401, `Invalid credentials`, stage.Misconfigured, 0},
		"brightdata, an input that it does not know": {"brightdata", 400, `{"error":"Invalid input provided","code":"validation_error"}`, stage.Changed, 0},
		"sociavault, no credits":                     {"sociavault", 403, `{"error":"Forbidden","message":"Insufficient credits","statusCode":403}`, stage.Quota, 5_000},
		"sociavault, a page that it could not read":  {"sociavault", 200, `{"success":false,"message":"Failed to fetch","credits_used":1}`, stage.Blocked, 5_000},
		"sociavault, a creator without videos":       {"sociavault", 200, `{"success":true,"data":{"aweme_list":{}}}`, stage.Empty, 5_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, o, spent := asked(t, c.id, sitetest.Text(c.status, c.body), stage.Seed{Platform: "tiktok", Handle: "ada"})
			if o.Status != c.want || len(records) != 0 || spent != c.spent {
				t.Errorf("%+v, %d records for %d; want %s for %d", o, len(records), spent, c.want, c.spent)
			}
		})
	}
}

// TestFaultsOfShippedRecipes: each provider's own errors, and those that every interface has.
func TestFaultsOfShippedRecipes(t *testing.T) {
	t.Parallel()
	for id, c := range map[string]struct {
		double         double
		videos         int
		bucket         int // the status when no credit is left
		renamed, empty string
	}{
		"scrapecreators": {scrapeCreators(), 30, 402, `{"success":true,"clips":[{"aweme_id":"1"}]}`, `{"success":true,"aweme_list":[]}`},
		"ensembledata":   {ensembleData(), 30, 495, `{"posts":[{"aweme_id":"1"}]}`, `{"data":[]}`},
		"sociavault":     {sociaVault(), 30, 403, `{"success":true,"data":{"videos":{"0":{"aweme_id":"1"}}}}`, `{"success":true,"data":{"aweme_list":[]}}`},
		"brightdata":     {brightData(), 20, 402, `[{"video":"1","plays":5}]`, `[]`},
		"apify":          {apify(), 30, 402, `[{"video":"1","plays":5}]`, `[]`},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			sitetest.Suite(t, sitetest.Subject{
				Videos: c.videos,
				Collect: func(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) ([]stage.Record, stage.Outcome) {
					t.Helper()
					records, o, _ := asked(t, id, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						body, _ := io.ReadAll(r.Body) // or the server does not see that the client has gone
						r.Body = io.NopCloser(bytes.NewReader(body))
						if fault == nil || !fault(w, r) {
							c.double.ServeHTTP(w, r)
						}
					}), stage.Seed{Platform: "tiktok", Handle: "ada"})
					return records, o
				},
				Bucket:     sitetest.Text(c.bucket, c.double.refusal(c.bucket, "no credit is left")),
				TokenEnded: sitetest.Text(cmp.Or(c.double.refused, 401), c.double.refusal(cmp.Or(c.double.refused, 401), "the key ended")),
				Renamed:    sitetest.Text(200, c.renamed),
				Empty:      sitetest.Text(200, c.empty),
			})
		})
	}
}
