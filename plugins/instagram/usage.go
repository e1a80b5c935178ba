package instagram

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// usage is what an answer says of the hour's allowance.
type usage struct {
	// percent of it that is spent; 0 if nothing is said.
	percent float64
	// regain is when it is there again; 0 if nothing is said.
	regain time.Duration
}

// level is one account of the usage: each number is a percentage.
type level struct {
	Calls  float64 `json:"call_count"`
	CPU    float64 `json:"total_cputime"`
	Time   float64 `json:"total_time"`
	Regain float64 `json:"estimated_time_to_regain_access"` // in minutes
}

// usageOf reads the two headers there may be. What makes no sense says nothing.
func usageOf(header http.Header) usage {
	var all []level
	var app level
	if json.Unmarshal([]byte(header.Get("X-App-Usage")), &app) == nil {
		all = append(all, app)
	}
	var business map[string][]level
	if json.Unmarshal([]byte(header.Get("X-Business-Use-Case-Usage")), &business) == nil {
		for _, levels := range business {
			all = append(all, levels...)
		}
	}
	var u usage
	for _, l := range all {
		u.percent = max(u.percent, l.Calls, l.CPU, l.Time)
		if l.Regain > 0 && l.Regain < 7*24*60 {
			u.regain = max(u.regain, time.Duration(l.Regain*float64(time.Minute)))
		}
	}
	return u
}

// until is when asking makes sense again.
func (u usage) until(now time.Time) time.Time {
	if u.regain > 0 {
		return now.Add(u.regain)
	}
	return now.Add(throttled)
}

// pace slows down as the allowance runs out, and stops before the interface does:
// who goes on asking is kept out for longer.
func (g *graph) pace(u usage) {
	switch {
	case u.percent >= 100 || u.regain > 0:
		g.spent = &site.Stop{
			Status: stage.Quota, RetryAt: u.until(g.site.Now()), Scope: site.All,
			Detail: "Instagram says that the hour's allowance is used up",
		}
	case u.percent >= 90:
		g.site.Slow(20 * time.Second)
	case u.percent >= 75:
		g.site.Slow(5 * time.Second)
	}
}
