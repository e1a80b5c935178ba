package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/site"
	"github.com/scrollery/scrollery/modules/sources"
	"github.com/scrollery/scrollery/plugins/stage"
)

// accountSources implements the host's need of what accounts set for sources.
type accountSources struct{ accounts *sources.Accounts }

func (a accountSources) Owned(ctx context.Context) (map[string]*host.Own, error) {
	listed, err := a.accounts.List(ctx)
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	account, _, _ := viewer.Tenant(ctx)
	owned := make(map[string]*host.Own, len(listed))
	for _, one := range listed {
		own := &host.Own{
			// No id of a plugin has a slash.
			Ledger:   one.Source + "/" + publicid.Format(publicid.Account, account),
			Settings: one.Settings,
			Keep: func(ctx context.Context, name, value string) error {
				return a.accounts.Keep(ctx, one, name, value)
			},
		}
		own.Secrets, err = a.accounts.Open(one)
		if errors.Is(err, sources.ErrUnopened) {
			own.Fault, err = stage.Misconfiguredf("%v", err), nil
		}
		if err != nil {
			return nil, err
		}
		owned[one.Source] = own
	}
	return owned, nil
}

// sourcePlugins implements the need of sources of the server's plugins.
type sourcePlugins struct {
	host   *host.Host
	quotas sourceQuotas
	base   string // of addresses of this server
	// ownKeys: accounts may use keys of their own.
	ownKeys bool
}

// sourcePages are the parts of the page on sources, by the id of a source that is compiled in.
func sourcePages() map[string]string {
	return map[string]string{
		"feed": "feed-your-own-files", "youtube-feed": "youtube-feed-public-feeds", "youtube": "youtube-the-data-api",
		"ytdlp": "ytdlp-yt-dlp", "tiktok": "tiktok-the-research-api", "instagram": "instagram-the-graph-api",
	}
}

func (p sourcePlugins) Describe(id string) (sources.Source, bool) {
	plugin, ok := p.host.Find(id)
	if !ok || plugin.Kind != stage.SourceKind {
		return sources.Source{}, false
	}
	return p.described(plugin), true
}

// described is what does not depend on a tenant.
func (p sourcePlugins) described(plugin host.Plugin) sources.Source {
	spec, _ := p.host.Spec(plugin.ID)
	source := sources.Source{ID: plugin.ID, Summary: plugin.Summary, Platforms: plugin.Platforms, Requests: plugin.Requests, Checks: plugin.Checks, Docs: pageOf([]string{plugin.Docs})}
	if part := sourcePages()[plugin.ID]; part != "" && plugin.Builtin {
		source.Docs = p.base + site.DocsPath + "/sources#" + part
	}
	if !p.ownKeys {
		return source
	}
	for _, name := range spec.Secrets {
		source.Secrets = append(source.Secrets, sources.Secret{Name: name, Required: slices.Contains(spec.RequiredSecrets, name)})
	}
	for _, setting := range spec.Settings {
		if setting.Own {
			source.Settings = append(source.Settings, setting)
		}
	}
	return source
}

func (p sourcePlugins) Sources(ctx context.Context) (all []sources.Source, err error) {
	owned, err := p.host.Owned(ctx)
	if err != nil {
		return nil, err
	}
	for _, known := range p.host.Known() {
		if known.Kind != stage.SourceKind {
			continue
		}
		own := owned[known.ID]
		plugin, _ := p.host.FindOwn(known.ID, own)
		source := p.described(plugin)
		source.State, source.Reason = stateOf(plugin, source, own)
		left, err := p.quotas.left(ctx, p.host.QuotasOf(plugin.ID, own), 0, 0)
		if err != nil {
			return nil, err
		}
		for i, q := range p.host.QuotasOf(plugin.ID, own) {
			source.Quotas = append(source.Quotas, sources.Quota{Name: q.Name, Window: string(q.Window), Limit: q.Limit, Left: left[i].Left, Cost: q.Cost, Money: q.Money})
		}
		all = append(all, source)
	}
	slices.SortFunc(all, func(a, b sources.Source) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Try asks a source for one seed, or has it check itself for an empty one, with the keys that a
// scroll of the tenant would have.
func (p sourcePlugins) Try(ctx context.Context, id string, seed stage.Seed) (sources.Tried, error) {
	owned, err := p.host.Owned(ctx)
	if err != nil {
		return sources.Tried{}, err
	}
	plugin, _ := p.host.FindOwn(id, owned[id])
	out := sources.Tried{Own: owned[id] != nil}
	if out.State, out.Reason = stateOf(plugin, p.described(plugin), owned[id]); out.State != sources.Ready {
		return out, nil
	}
	if seed == (stage.Seed{}) {
		began := time.Now()
		out.Checked, err = p.host.Check(ctx, id)
		out.Hosts, out.Took = orEmpty(p.hosts(id)), time.Since(began)
		return failedTry(ctx, out, err)
	}
	tried, err := try(ctx, p.host, plugin, seed)
	out.Status, out.Detail, out.Asked, out.Returned = string(tried.Status), tried.Detail, tried.Asked, tried.Returned
	out.Hosts, out.Fields, out.Took = tried.Hosts, tried.Fields, time.Duration(tried.Seconds*float64(time.Second))
	return failedTry(ctx, out, err)
}

// hosts are those that a source may ask.
func (p sourcePlugins) hosts(id string) []string {
	spec, _ := p.host.Spec(id)
	return spec.Hosts
}

// failedTry says in a try why its call failed, as far as that is for the tenant; nil is no failure.
func failedTry(ctx context.Context, out sources.Tried, err error) (sources.Tried, error) {
	var failed *stage.CallError
	var said *stage.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		out.Failure, out.Detail = string(stage.StageTimeout), "The request took too long."
	case !errors.As(err, &failed):
		return out, err
	default: // other words than the source's own are for the operator
		out.Failure = string(failed.Failure)
		if errors.As(err, &said) {
			out.Detail = cmp.Or(out.Detail, host.Printable(said.Message))
		}
	}
	return out, nil
}

// stateOf is the state of a source for a tenant, without the operator's own words.
func stateOf(plugin host.Plugin, source sources.Source, own *host.Own) (state, reason string) {
	missing := lacking(source, own)
	switch {
	case plugin.State == host.Ready:
		return sources.Ready, ""
	case plugin.State == host.Resting:
		return sources.Resting, "It failed too often in a row, and rests until " + plugin.Until.UTC().Format(time.RFC3339) + "."
	case plugin.State != host.Unset:
		return sources.Off, "The operator turned it off, or it cannot run here."
	case own != nil && own.Fault != nil:
		return sources.Incomplete, "The stored keys cannot be opened any more: set them again."
	case own != nil && missing != "":
		return sources.Incomplete, "Set " + missing + "."
	case own == nil && missing != "":
		return sources.Unset, "Set keys of your own: " + missing + "."
	}
	return sources.Off, "Only the operator can set it up."
}

// lacking names what an account has yet to set; empty for nothing, and for a source that takes
// no keys of accounts.
func lacking(source sources.Source, own *host.Own) string {
	if own == nil {
		own = &host.Own{}
	}
	var names []string
	for _, secret := range source.Secrets {
		if secret.Required && own.Secrets[secret.Name] == "" {
			names = append(names, secret.Name)
		}
	}
	for _, setting := range source.Settings {
		if setting.Required && setting.Default == "" && own.Settings[setting.Name] == "" {
			names = append(names, setting.Name)
		}
	}
	return strings.Join(names, ", ")
}

// left is what is left of quotas for the tenant of the context, who needs what so many seeds
// usually take.
func (q sourceQuotas) left(ctx context.Context, quotas []host.Quota, handles, terms int) ([]quotaLeft, error) {
	all := make([]quotaLeft, 0, len(quotas))
	for _, known := range quotas {
		needed := known.Cost.Handle*int64(handles) + known.Cost.Term*int64(terms)
		left, answer, err := q.ledger.Left(ctx, quotaOf(known.Plugin, known.Allowance), needed)
		if err != nil {
			return nil, err
		}
		all = append(all, quotaLeft{known, needed, left, answer})
	}
	return all, nil
}

// quotaLeft is what is left of one quota.
type quotaLeft struct {
	host.Quota
	Needed, Left int64
	answer       quota.Answer
}
