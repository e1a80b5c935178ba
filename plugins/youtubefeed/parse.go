package youtubefeed

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

var videoForm = lazy.Pattern(`^[A-Za-z0-9_-]{4,40}$`)

// mostText bounds a description, mostTitle a title or a name, in bytes: a page of videos fits into
// [stage.MaxPage] even if JSON takes two bytes for each.
const mostText, mostTitle = 5000, 500

// video is one entry of a feed.
type video struct {
	ID          string    `json:"id"`
	Title       string    `json:"title"`
	Description string    `json:"description,omitempty"`
	Channel     string    `json:"channel,omitempty"`
	Name        string    `json:"name,omitempty"`
	Published   time.Time `json:"published"`
	Views       *int64    `json:"views,omitempty"`
	Likes       *int64    `json:"likes,omitempty"`
	// Short: its address is that of a Short.
	Short bool `json:"short,omitempty"`
	// Listed: the feed is the list of the channel's Shorts.
	Listed bool `json:"listed,omitempty"`
}

// atom is the part of a feed that is read. Other elements are left out.
type atom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Links   []link   `xml:"http://www.w3.org/2005/Atom link"`
	Entries []entry  `xml:"http://www.w3.org/2005/Atom entry"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

type entry struct {
	ID      string `xml:"http://www.youtube.com/xml/schemas/2015 videoId"`
	Channel string `xml:"http://www.youtube.com/xml/schemas/2015 channelId"`
	Title   string `xml:"http://www.w3.org/2005/Atom title"`
	Links   []link `xml:"http://www.w3.org/2005/Atom link"`
	Author  struct {
		Name string `xml:"http://www.w3.org/2005/Atom name"`
	} `xml:"http://www.w3.org/2005/Atom author"`
	Published string `xml:"http://www.w3.org/2005/Atom published"`
	Group     struct {
		Description string `xml:"http://search.yahoo.com/mrss/ description"`
		Community   struct {
			Rating struct {
				Count string `xml:"count,attr"`
			} `xml:"http://search.yahoo.com/mrss/ starRating"`
			Statistics struct {
				Views string `xml:"views,attr"`
			} `xml:"http://search.yahoo.com/mrss/ statistics"`
		} `xml:"http://search.yahoo.com/mrss/ community"`
	} `xml:"http://search.yahoo.com/mrss/ group"`
}

func noFeed() error {
	return &site.Stop{Status: stage.Changed, Detail: "YouTube answers with what is no feed"}
}

// parse reads the entries of a feed, at most [most]. An odd one costs itself alone. The error is a
// *site.Stop. Entities beyond those of XML itself are not known, and a document type is refused, so
// that no text grows while it is read.
func parse(raw []byte) ([]video, error) {
	decoder := xml.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil, noFeed()
		}
		switch token := token.(type) {
		case xml.Directive:
			return nil, noFeed()
		case xml.StartElement:
			var feed atom
			err := decoder.DecodeElement(&feed, &token)
			var syntax *xml.SyntaxError
			switch {
			case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF") && token.Name.Local == "feed":
				return nil, &site.Stop{Status: stage.Blocked, Detail: "YouTube: the feed is not whole"}
			case err != nil:
				return nil, noFeed()
			}
			return videos(feed)
		}
	}
}

func videos(feed atom) (all []video, err error) {
	listed := false
	for _, l := range feed.Links {
		listed = listed || l.Rel == "self" && strings.Contains(l.Href, "playlist_id=UUSH")
	}
	for _, e := range feed.Entries[:min(len(feed.Entries), most)] {
		published, err := time.Parse(time.RFC3339, e.Published)
		if !videoForm().MatchString(e.ID) || err != nil {
			continue
		}
		v := video{
			ID: e.ID, Title: cut(e.Title, mostTitle), Description: cut(e.Group.Description, mostText), Channel: cut(e.Channel, mostTitle), Name: cut(e.Author.Name, mostTitle), Published: published,
			Views: count(e.Group.Community.Statistics.Views), Likes: count(e.Group.Community.Rating.Count), Listed: listed,
		}
		for _, l := range e.Links {
			v.Short = v.Short || strings.Contains(l.Href, "/shorts/")
		}
		all = append(all, v)
	}
	if len(all) == 0 && len(feed.Entries) > 0 {
		return nil, noFeed()
	}
	return all, nil
}

// count is a number of a feed; what is none is absent, never 0.
func count(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

func cut(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// records are the videos that are Shorts for certain. begin is the beginning of the hour that the
// feed was read in, whichever account it was read for; of a video that is younger, the time is now.
func records(all []video, channel string, begin, now time.Time) (found []stage.Record) {
	for _, v := range all {
		basis := "uush"
		switch {
		case v.Channel != "" && v.Channel != channel:
			continue
		case v.Listed:
		case v.Short:
			basis = "address"
		default:
			continue // it may be one, but nothing says so
		}
		posted, observed := v.Published.UnixMilli(), begin.UnixMilli()
		if observed <= posted {
			observed = now.UnixMilli()
		}
		about := map[string]any{"caption": v.Title, "formatBasis": basis}
		if v.Description != "" {
			about["description"] = v.Description
		}
		if tags := formats.Hashtags(v.Title + "\n" + v.Description); len(tags) > 0 {
			about["hashtags"] = tags
		}
		if v.Name != "" {
			about["channel"] = v.Name
		}
		metadata, err := json.Marshal(about)
		if err != nil {
			continue
		}
		found = append(found, stage.Record{
			Ref:       stage.Ref{Platform: platform, ExternalID: v.ID},
			SourceURL: "https://www.youtube.com/shorts/" + v.ID, PostedAt: &posted, CreatorID: channel, Metadata: metadata,
			Metrics: stage.Metrics{Views: v.Views, Likes: v.Likes, ObservedAt: &observed, Semantics: "exact"},
		})
	}
	return found
}
