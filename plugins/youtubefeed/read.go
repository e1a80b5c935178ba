package youtubefeed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// resolved is how long the channel of a handle is remembered: a handle can be given away.
const resolved = 30 * 24 * time.Hour

var (
	channelForm = lazy.Pattern(`^UC[A-Za-z0-9_-]{22}$`)
	handleForm  = lazy.Pattern(`^[\pL\pN][\pL\pM\pN._·-]{0,59}$`)
	// channelInPage finds the channel of a handle's page: its canonical address, or that of
	// its feed.
	channelInPage = lazy.Pattern(`(?:<link[^>]{0,200}href="https?://www\.youtube\.com/channel/|videos\.xml\?channel_id=)(UC[A-Za-z0-9_-]{22})"`)
)

// reader reads pages during one call.
type reader struct {
	call    *stage.Call
	site    *site.Site
	gap     time.Duration // between two requests
	base    string
	consent bool
}

// page is what is remembered of a page: what it says, or why it could not be read.
type page struct {
	// At is when it was read, and Took how long that took.
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
	// Status is empty for a page that could be read. Wait says that another hour may help.
	Status stage.Status `json:"status,omitempty"`
	Detail string       `json:"detail,omitempty"`
	Wait   bool         `json:"wait,omitempty"`

	// Channel is of the page of a handle, the others of a feed.
	Channel  string `json:"channel,omitempty"`
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	List     string `json:"list,omitempty"`
	// Missed is when the list of Shorts was missing last; zero while it is there.
	Missed time.Time `json:"missed,omitzero"`
	// Had is when it had Shorts last.
	Had    time.Time `json:"had,omitzero"`
	Videos []video   `json:"videos,omitempty"`
}

// stop is why a page has nothing, or nil. Every account may ask again at the same time.
func (p page) stop(retryAt time.Time) error {
	if p.Status == "" {
		return nil
	}
	s := &site.Stop{Status: p.Status, Detail: p.Detail}
	if p.Wait {
		s.RetryAt = retryAt
	}
	if p.Status == stage.Quota {
		s.Scope = site.All
	}
	return s
}

// hour is the hour of a page that a moment is in. It begins at a minute of the page's own, so
// that not all pages are read at once.
func hour(name string, at time.Time) (begin, end time.Time) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	phase := time.Duration(sum.Sum32()%uint32(everyHour/time.Second)) * time.Second
	begin = at.Add(-phase).Truncate(everyHour).Add(phase)
	return begin, begin.Add(everyHour)
}

// shared is a page that is read at most once in its hour, for all accounts together. fresh, if
// set, says that an older one is as good.
func (r *reader) shared(ctx context.Context, name string, fresh func(page) bool, read func(ctx context.Context, old page) (page, error)) (page, error) {
	begin, end := hour(name, r.site.Now())
	old, renew, err := r.recall(ctx, name, begin.Add(-resolved))
	if err == nil && !renew && (fresh == nil || !fresh(old)) {
		old, renew, err = r.recall(ctx, name, begin)
	}
	if err != nil {
		return page{}, err
	}
	if err := r.site.Turn(ctx); err != nil {
		return page{}, err
	}
	defer r.site.Slow(r.gap) // before the next page, whether or not this one was asked for
	if !renew {              // it takes no less time than reading it did
		if err := r.site.Wait(ctx, old.Took, "reading"); err != nil && !errors.Is(err, site.ErrPatience) {
			return page{}, err
		}
		return old, old.stop(end)
	}
	began := r.site.Now()
	next, err := read(ctx, old)
	if err != nil {
		return page{}, err
	}
	next.At, next.Took = began, min(r.site.Now().Sub(began), 2*timeout+gap)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // which would make six bytes of a `&`
	if err := encoder.Encode(next); err != nil {
		return page{}, err
	}
	if err := r.call.Remember(ctx, name, text.Bytes()); err != nil {
		return page{}, err
	}
	return next, next.stop(end)
}

func (r *reader) recall(ctx context.Context, name string, since time.Time) (old page, renew bool, err error) {
	text, renew, err := r.call.Recall(ctx, name, since)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &old)
	}
	return old, renew, err
}

// channel is the id of the channel of a handle.
func (r *reader) channel(ctx context.Context, handle string) (string, error) {
	switch {
	case channelForm().MatchString(handle):
		return handle, nil
	case !handleForm().MatchString(handle):
		return "", &site.Stop{Status: stage.NotFound, Detail: "YouTube has no handles of that form"}
	case strings.HasSuffix(strings.ToLower(handle), ".example"):
		return "", &site.Stop{Status: stage.Unsupported, Detail: "handles that end in .example are invented: the site is not asked"}
	}
	found := func(p page) bool { return p.Channel != "" }
	p, err := r.shared(ctx, "handle "+strings.ToLower(handle), found, func(ctx context.Context, _ page) (page, error) {
		answer, failed, err := r.get(ctx, "/@"+url.PathEscape(handle), page{})
		if err != nil || failed.Status != "" {
			return failed, err
		}
		switch match := channelInPage().FindSubmatch(answer.Body); {
		case answer.Status == http.StatusNotFound:
			return page{Status: stage.NotFound, Detail: "YouTube has no page for that handle"}, nil
		case answer.Status >= 300 && answer.Status < 400:
			return page{Status: stage.Blocked, Wait: true, Detail: "YouTube asks for consent in place of the handle's page: watch the channel by its id UC…, or set `consent` to yes"}, nil
		case answer.Status != http.StatusOK:
			return failure(answer.Status), nil
		case match == nil:
			return page{Status: stage.Changed, Detail: "the page of the handle names no channel"}, nil
		default:
			return page{Channel: string(match[1])}, nil
		}
	})
	return p.Channel, err
}

// shorts are the newest Shorts of a channel.
func (r *reader) shorts(ctx context.Context, handle string) ([]stage.Record, error) {
	channel, err := r.channel(ctx, handle)
	if err != nil {
		return nil, err
	}
	name := "feed " + channel
	p, err := r.shared(ctx, name, nil, func(ctx context.Context, old page) (page, error) { return r.feed(ctx, channel, old) })
	if err != nil {
		return nil, err
	}
	begin, _ := hour(name, r.site.Now())
	return records(p.Videos, channel, begin, r.site.Now()), nil
}

const (
	// missing is how long a list of Shorts that was missing is asked for last.
	missing = 6 * time.Hour
	// spell is the longest time that a list of Shorts is expected to be missing by mistake.
	spell = 24 * time.Hour
)

// The two feeds of a channel: of its Shorts, and of everything.
const (
	shortsList  = "shorts"
	channelList = "channel"
)

// feed reads the list of a channel's Shorts or, if there is none, the channel's own feed, of
// which only addresses of Shorts prove one. Both may be missing for hours although the channel is
// there: a list that was missing is asked for again after a while, and a channel whose list had
// Shorts is not without them because only its own feed is there.
func (r *reader) feed(ctx context.Context, channel string, old page) (page, error) {
	lists := []string{shortsList, channelList}
	missed := r.site.Now()
	if old.List == channelList && missed.Sub(old.Missed) < missing {
		lists, missed = []string{channelList, shortsList}, old.Missed
	}
	var failed page
	for _, list := range lists {
		query := "playlist_id=UUSH" + strings.TrimPrefix(channel, "UC")
		if list == channelList {
			query = "channel_id=" + channel
		}
		known := page{}
		if old.List == list {
			known = old
		}
		next, status, err := r.list(ctx, query, known)
		if err == nil && status == http.StatusNotFound {
			failed = next
			continue
		}
		switch next.List, next.Had = list, old.Had; {
		case list == shortsList && len(next.Videos) > 0:
			next.Had = r.site.Now()
		case list == shortsList:
		case r.site.Now().Sub(old.Had) < spell && !slices.ContainsFunc(next.Videos, func(v video) bool { return v.Short }):
			next = failure(http.StatusNotFound)
			next.Had = old.Had
		default:
			next.Missed = missed
		}
		return next, err
	}
	failed.Had = old.Had
	return failed, nil
}

// list reads one feed; known is what it had before.
func (r *reader) list(ctx context.Context, query string, known page) (next page, status int, err error) {
	answer, failed, err := r.get(ctx, "/feeds/videos.xml?"+query, known)
	switch {
	case err != nil || failed.Status != "":
		return failed, 0, err
	case answer.Status == http.StatusNotModified && known.Status == "" && known.List != "":
		return page{ETag: known.ETag, Modified: known.Modified, Videos: known.Videos}, answer.Status, nil
	case answer.Status != http.StatusOK:
		return failure(answer.Status), answer.Status, nil
	}
	videos, err := parse(answer.Body)
	var stop *site.Stop
	if errors.As(err, &stop) {
		return page{Status: stop.Status, Detail: stop.Detail, Wait: stop.Status == stage.Blocked}, answer.Status, nil
	}
	return page{ETag: header(answer, "ETag"), Modified: header(answer, "Last-Modified"), Videos: videos}, answer.Status, err
}

// header is one that is fit to be sent back.
func header(answer site.Answer, name string) string {
	if value := answer.Header.Get(name); len(value) <= 200 {
		return value
	}
	return ""
}

// failure is the page of an answer that has nothing. The feeds answer 404 and 500 in spells, which
// say nothing of the channel.
func failure(status int) page {
	return page{Status: stage.Blocked, Wait: true, Detail: fmt.Sprintf("YouTube answers %d, as its feeds do for hours at times", status)}
}

// pause is the name of the page that says until when the whole site is left alone.
const pause = "pause"

// get asks once. failed is why there is no answer; the error is the context's or the server's.
func (r *reader) get(ctx context.Context, path string, known page) (answer site.Answer, failed page, err error) {
	if held, _, err := r.recall(ctx, pause, time.Time{}); err != nil || held.At.After(r.site.Now()) {
		return answer, page{Status: stage.Quota, Wait: true, Detail: "YouTube asked for fewer requests"}, err
	}
	ask := http.Header{"User-Agent": {"Scrollery (+https://github.com/scrollery/scrollery)"}, "Accept-Language": {"en"}}
	if known.ETag != "" {
		ask.Set("If-None-Match", known.ETag)
	}
	if known.Modified != "" {
		ask.Set("If-Modified-Since", known.Modified)
	}
	if r.consent {
		ask.Set("Cookie", "SOCS=CAI")
	}
	answer, err = r.site.Ask(ctx, site.Request{Method: http.MethodGet, URL: r.base + path, Header: ask})
	var lost *site.Unreachable
	switch {
	case errors.As(err, &lost):
		return answer, page{Status: stage.Blocked, Wait: true, Detail: "YouTube: " + lost.Reason}, nil
	case err != nil:
		return answer, page{}, err
	case answer.Status == http.StatusTooManyRequests:
		return answer, page{Status: stage.Quota, Wait: true, Detail: "YouTube asks for fewer requests"}, r.hold(ctx, answer)
	}
	return answer, page{}, nil
}

// hold leaves the site alone for as long as it asks, or an hour.
func (r *reader) hold(ctx context.Context, answer site.Answer) error {
	wait := everyHour
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		wait = min(time.Duration(seconds)*time.Second, 24*time.Hour)
	}
	text, err := json.Marshal(page{At: r.site.Now().Add(wait)})
	if err != nil {
		return err
	}
	return r.call.Remember(ctx, pause, text)
}
