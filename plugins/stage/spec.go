package stage

import (
	"context"
	"time"
)

// Kind is what a stage does with its stream.
type Kind string

// The kinds of stages.
const (
	// PlanKind finds the terms that sources are to look for.
	PlanKind Kind = "plan"
	// SourceKind turns seeds into records.
	SourceKind Kind = "source"
	// ScreenKind ranks records and drops some, each for a reason.
	ScreenKind Kind = "screen"
	// EvidenceKind finds out what the first seconds show, say and print.
	EvidenceKind Kind = "evidence"
)

// Spec is a whole stage.
type Spec struct {
	// ID names the stage: `^[a-z][a-z0-9-]{0,39}$`, one of its kind in a house.
	ID string
	// Version is for people; it stands in the list of plugins.
	Version string
	// Summary says in one line what the stage does.
	Summary string
	Kind    Kind
	// Platforms that it knows, in lower case; none stands for any.
	Platforms []string
	// Settings and Secrets that it wants; it is given no others.
	Settings []Setting
	Secrets  []string
	// RequiredSecrets are those of them without which the stage is not ready.
	RequiredSecrets []string
	// Env names environment variables of settings and secrets of a built-in stage,
	// without the prefix that all variables have. A required setting or a secret that
	// is missing here has one named for the stage and itself, such as YOUTUBE_API_KEY;
	// other settings have one only where they are named here. Stages that name the
	// same variable share its value.
	Env map[string]string
	// Hosts it talks to, as `host:port`, or `*.host:port` for all names below it;
	// together with the settings that are endpoints they are all that it reaches,
	// through Call.HTTP. None stands for no network at all.
	Hosts []string
	// Quotas are the allowances of the sites it asks; see Call.Spend.
	Quotas []Allowance
	// Programs of the system that it runs, by name, such as `ffmpeg`.
	Programs []string
	// NeedsMedia has an evidence stage get Record.Media where some source can fetch it.
	NeedsMedia bool
	Limits     Limits

	// Plan finds seeds for the brief, rules, prompt and pages of call.Run. It is given
	// those that the house found by itself; what it emits takes the place of the niche
	// terms among them.
	Plan func(ctx context.Context, call *Call, seeds []Seed, emit func(Seed) error) error
	// Collect finds records for seeds; a source has it. It answers for every seed.
	Collect func(ctx context.Context, call *Call, seeds []Seed, emit func(Record) error) ([]Outcome, error)
	// Refresh reads videos that are already known again; a source may have it. An
	// outcome whose Seed is an external id is about that video alone: NotFound says
	// that the platform has it no more, which marks it for good; one that may never
	// have been there is Unsupported. What a record leaves out stays as it was;
	// metadata take the place of all that any source brought.
	Refresh func(ctx context.Context, call *Call, refs []Ref, emit func(Record) error) ([]Outcome, error)
	// Media fetches videos, or their first seconds, into call.Scratch and emits the
	// name of each file there; a source may have it. The house takes the files away.
	Media func(ctx context.Context, call *Call, refs []Ref, emit func(File) error) ([]Outcome, error)
	// Screen gives one verdict a record; next answers io.EOF after the last.
	Screen func(ctx context.Context, call *Call, next func() (Record, error), emit func(Verdict) error) (Summary, error)
	// Evidence gives a finding for each record that it knows something about.
	Evidence func(ctx context.Context, call *Call, next func() (Record, error), emit func(Finding) error) error
}

// Setting is a value that the operator sets.
type Setting struct {
	// Name in lower case: `^[a-z][a-z0-9_]{0,39}$`.
	Name string
	// Default stands where the operator sets nothing.
	Default string
	// Required refuses a call where neither value nor default is there.
	Required bool
	// RequiredWith names another setting: where the operator's environment sets that
	// one, it must set this one too, or the server does not start.
	RequiredWith string
	// Values are the only ones that the operator's environment may set; none stands
	// for any.
	Values []string
	// Path marks the value as a file or folder, which the stage may then read; it
	// arrives as an absolute path. A value that names nothing there stays as it is,
	// and so does Default, which opens no file: only the operator can.
	Path bool
	// Endpoint marks the value as an http or https address; the stage may reach its
	// host, which may also be in a private network, since the operator says so.
	Endpoint bool
	// Help is for people.
	Help string
}

// Allowance is what a site gives the operator as a whole: all scrolls of a house
// share it.
type Allowance struct {
	// Name in the form of a setting's.
	Name string
	// Limit in units a window, where the operator sets nothing; above 0.
	Limit int64
	// Setting holds the operator's own limit; empty where there is none to set.
	Setting string
	Window  Window
}

// Window is how long a quota lasts, and when it is renewed.
type Window string

// The windows.
const (
	// UTCDay begins at midnight UTC.
	UTCDay Window = "utc_day"
	// PacificDay begins at midnight in Los Angeles.
	PacificDay Window = "pacific_day"
	// Week is the last 7 days, whenever it is.
	Week Window = "week"
)

// Limits are what the stage asks for. Zero takes the house's default, and the
// house's maximum is never exceeded.
type Limits struct {
	// Memory in bytes.
	Memory int64
	// Call is how long one call may last.
	Call time.Duration
	// Stall is how long a call may go on without a record or Call.Progress.
	Stall time.Duration
	// Records is how many a call may emit.
	Records int
	// Calls is how many may run at once in one process of the house, for all tenants
	// together: what a polite visitor of its site would do. Others wait their turn.
	// Zero is any number.
	Calls int
}
