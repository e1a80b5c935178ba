package shares

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Library is the need of the tenant's videos and collections.
type Library interface {
	// Present returns those of some videos that the library has, in the transaction.
	Present(ctx context.Context, tx *store.Tx, ids []int64) ([]int64, error)
	// KeptUntil returns when the policy deletes the first of what some videos are known from,
	// unless it is read again; the zero time if nothing of it has an end.
	KeptUntil(ctx context.Context, ids []int64) (time.Time, error)
	// Video shows a video with its outlier and its hook, as REST does.
	Video(ctx context.Context, id string) ([]byte, error)
	// First returns the public ids of the first videos of a collection; found is false for an
	// unknown one.
	First(ctx context.Context, id string, most int) (videos []string, found bool, err error)
}

// Accounts is the module's need of keys.
type Accounts interface {
	// Blocked reports whether the operator has blocked an account.
	Blocked(ctx context.Context, accountID int64) (bool, error)
}

// Config is the part of the configuration.
type Config struct {
	// Off turns shares off: none is made, and no page is served. Off is false by default.
	Off bool `yaml:"off"`
	// BaseURL is the public address of the server; the app sets it.
	BaseURL string `yaml:"-"`
}

const (
	// Max is how many shares an account may have.
	Max = 200
	// maxVideos is how many videos a page has.
	maxVideos = 100
	// maxText is the most characters of a creator's text on a page.
	maxText = 500
	// usual and longest are how long a share lasts if no date is given, and at most.
	usual   = 30 * 24 * time.Hour
	longest = 365 * 24 * time.Hour
	// idPrefix begins the public ids.
	idPrefix = "shr"
)

// Kinds of shares.
const (
	ofVideo      = "video"
	ofCollection = "collection"
)

// Share is a page.
type Share struct {
	ID                          int64
	Kind, Title                 string
	Views, CreatedAt, ExpiresAt int64
	account                     int64
}

// Order is what to share.
type Order struct {
	Kind, ID, Title string
	// Sentences are those of a finding, a brief or a report, which rest on Videos.
	Sentences, Videos []string
	ExpiresAt         int64 // 0 for the usual time
}

// part is what a page shows at one place, with the videos that it rests on.
type part struct {
	Text   string  `json:"text,omitempty"`
	Video  *frozen `json:"video,omitempty"`
	videos []int64
}

// frozen are the numbers and the words of a video at that time.
type frozen struct {
	Platform, Handle, Caption, Spoken, OnScreen, Address string
	PostedAt, Views, ObservedAt, Score, Baseline         float64
	Peers                                                int
}

// Service keeps shares. It is safe for concurrent use.
type Service struct {
	config   Config
	db       *store.DB
	library  Library
	accounts Accounts
	now      func() time.Time
}

// New returns the service.
func New(cfg Config, db *store.DB, library Library, accounts Accounts) *Service {
	return &Service{config: cfg, db: db, library: library, accounts: accounts, now: time.Now}
}

// hashOf is how an address is stored.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Create freezes a part of the library. It returns the address of the page, and nil if the
// library lacks something of the order.
func (s *Service) Create(ctx context.Context, o Order) (share *Share, address string, err error) {
	now := s.now()
	switch {
	case s.config.Off:
		return nil, "", apierr.New(apierr.OperationError, "Shares are turned off on this server.")
	case o.ExpiresAt != 0 && (o.ExpiresAt <= now.UnixMilli() || o.ExpiresAt > now.Add(longest).UnixMilli()):
		return nil, "", apierr.Invalid("expiresAt", "must be in the future, and at most a year from now")
	}
	parts, found, err := s.freeze(ctx, o)
	if err != nil || !found {
		return nil, "", err
	}
	if o.ExpiresAt, err = s.end(ctx, o.ExpiresAt, now, parts); err != nil {
		return nil, "", err
	}
	token := secret.New()
	share = &Share{ID: s.db.NewID(), Kind: o.Kind, Title: o.Title, CreatedAt: now.UnixMilli(), ExpiresAt: o.ExpiresAt}
	found, err = s.insert(ctx, share, hashOf(token), parts)
	if err != nil || !found {
		return nil, "", err
	}
	return share, s.config.BaseURL + Path + token, nil
}

// end is when a page with some parts ends, which was asked for, or 0 for the usual time. What a
// platform wants deleted is not kept longer on a page than in the library.
func (s *Service) end(ctx context.Context, asked int64, now time.Time, parts []part) (int64, error) {
	kept, err := s.library.KeptUntil(ctx, videosOf(parts))
	if err != nil {
		return 0, fmt.Errorf("look how long videos are kept: %w", err)
	}
	last := kept.UnixMilli()
	switch {
	case kept.IsZero() && asked != 0:
		return asked, nil
	case kept.IsZero():
		return now.Add(usual).UnixMilli(), nil
	case last <= now.UnixMilli():
		return 0, apierr.New(apierr.OperationError, "A video of this page was read too long ago to be shown. Start a scroll, which reads it again.")
	case asked > last:
		return 0, apierr.Invalid("expiresAt", "must be at most %s: then the source of a video wants it read again", kept.UTC().Format(time.RFC3339))
	case asked != 0:
		return asked, nil
	}
	return min(now.Add(usual).UnixMilli(), last), nil
}

// videosOf are the videos that some parts rest on, each once.
func videosOf(parts []part) (ids []int64) {
	for _, p := range parts {
		for _, id := range p.videos {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// freeze copies what the page shows. found is false if something of it is not there.
func (s *Service) freeze(ctx context.Context, o Order) (parts []part, found bool, err error) {
	var ids []string
	switch o.Kind {
	case ofVideo:
		ids = []string{o.ID}
	case ofCollection:
		if ids, found, err = s.library.First(ctx, o.ID, maxVideos); err != nil || !found || len(ids) == 0 {
			return nil, false, err
		}
	default:
		var rests []int64
		for _, id := range o.Videos {
			number, ok := publicid.Parse(publicid.Video, id)
			if !ok {
				return nil, false, nil
			}
			if !slices.Contains(rests, number) {
				rests, ids = append(rests, number), append(ids, id)
			}
		}
		for _, text := range o.Sentences {
			parts = append(parts, part{Text: text, videos: rests})
		}
	}
	for _, id := range ids {
		number, _ := publicid.Parse(publicid.Video, id)
		v, err := s.video(ctx, id)
		if err != nil {
			return nil, false, err
		}
		if v == nil && o.Kind == ofCollection { // deleted meanwhile
			continue
		}
		if v == nil {
			return nil, false, nil
		}
		parts = append(parts, part{Video: v, videos: []int64{number}})
	}
	return parts, len(parts) > 0, nil
}

// video is a video as it is now; nil for an unknown one.
func (s *Service) video(ctx context.Context, id string) (*frozen, error) {
	raw, err := s.library.Video(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read video %s: %w", id, err)
	}
	var got struct {
		Video *struct {
			Platform, SourceURL string
			PostedAt            *float64
			Source              *struct{ Handle string }
			Metadata            json.RawMessage
			Metrics             struct{ Views, ObservedAt *float64 }
		}
		Outlier *struct {
			Score         float64
			BaselineViews *float64
			SampleCount   int
		}
		Hook *struct{ Spoken, OnScreenText *string }
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, fmt.Errorf("read video %s: %w", id, err)
	}
	v := got.Video
	if v == nil {
		return nil, nil
	}
	f := &frozen{Platform: clip(v.Platform), Address: clip(v.SourceURL), PostedAt: of(v.PostedAt), Views: of(v.Metrics.Views), ObservedAt: of(v.Metrics.ObservedAt)}
	if v.Source != nil {
		f.Handle = clip(v.Source.Handle)
	}
	// A source may give any JSON here: a member of another type is left out.
	var known map[string]json.RawMessage
	_ = json.Unmarshal(v.Metadata, &known)
	_ = json.Unmarshal(known["caption"], &f.Caption)
	f.Caption = clip(f.Caption)
	if got.Outlier != nil {
		f.Score, f.Baseline, f.Peers = got.Outlier.Score, of(got.Outlier.BaselineViews), got.Outlier.SampleCount
	}
	if got.Hook != nil {
		f.Spoken, f.OnScreen = clip(deref(got.Hook.Spoken)), clip(deref(got.Hook.OnScreenText))
	}
	return f, nil
}

func of(n *float64) float64 {
	if n == nil {
		return 0
	}
	return *n
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// clip shortens a text of a creator.
func clip(text string) string {
	if letters := []rune(text); len(letters) > maxText {
		return string(letters[:maxText-1]) + "…"
	}
	return text
}
