package stage

import (
	"context"
	"time"
)

// Kind is what a stage makes of its stream.
type Kind string

// The kinds of stages.
const (
	// PlanKind finds the terms that sources search for.
	PlanKind Kind = "plan"
	// SourceKind turns seeds into records.
	SourceKind Kind = "source"
	// ScreenKind ranks records and drops some, each for a reason.
	ScreenKind Kind = "screen"
	// EvidenceKind finds what the first seconds show, say and print.
	EvidenceKind Kind = "evidence"
	// BriefKind writes the sentences of a brief, each with the facts that it rests on.
	BriefKind Kind = "brief"
)

// Spec is a whole stage.
type Spec struct {
	// ID names the stage: `^[a-z][a-z0-9-]{0,39}$`, unique on a host.
	ID string
	// Version is for people, in the list of plugins.
	Version string
	// Summary says in one line what the stage does.
	Summary string
	// Docs is the https address of the page on what the stage asks, of at most [MaxDocs]
	// characters; empty for none. Customers see it in the list of sources.
	Docs string
	Kind Kind
	// Platforms that the stage serves, in lower case; none means any.
	Platforms []string
	// Settings and Secrets are the only ones that the stage gets.
	Settings []Setting
	Secrets  []string
	// RequiredSecrets are those of Secrets without which the stage is not ready.
	RequiredSecrets []string
	// Tokens are those of Secrets that the stage renews by Call.KeepToken, such as OAuth
	// refresh tokens. Set Limits.Calls to 1 if a site accepts only the newest one.
	Tokens []string
	// Env names environment variables of settings and secrets of a built-in stage,
	// without the prefix that all variables have. A required setting or a secret that
	// is missing here has one named for the stage and itself, such as YOUTUBE_API_KEY;
	// other settings have one only where they are named here. Stages that name the
	// same variable share its value.
	Env map[string]string
	// Hosts that the stage talks to, as `host:port`, or `*.host:port` for all names below
	// it. Through Call.HTTP it reaches these and the settings that are endpoints, and
	// nothing else. Without any of both it has no network.
	Hosts []string
	// Quotas are the allowances of the sites that the stage asks; see Call.Spend.
	Quotas []Allowance
	// Requests are the requests to a site that one seed usually takes, for estimates.
	Requests Cost
	// Price is what a source pays a provider; zero for nothing.
	Price Price
	// After names sources that come with the server and know more of the same videos. In a
	// scroll this source is asked after them: what they delivered stays, and where Fallback is
	// set, the seeds that they brought videos for are not asked for again. For stages that
	// come with the server.
	After    []string
	Fallback bool
	// Programs of the system that the stage runs, by name, such as `ffmpeg`. Without one
	// of them the stage is not ready.
	Programs []string
	// NeedsMedia asks for Record.Media; an evidence stage gets it if a source can fetch it.
	NeedsMedia bool
	// AfterEvidence has a screen judge what the other screens of a scroll kept, once the
	// evidence stages have looked at it: Record.Evidence is what is known then, Record.Cues
	// what the source had. What such a screen drops is not archived. The ranks and reasons
	// of what it keeps are not used: the others ranked it.
	AfterEvidence bool
	// Lenient hands to the host what is beyond its [Bounds]: the host drops, cuts or refuses it, and
	// counts it. Otherwise the first emit of such a value ends the call.
	Lenient bool
	// Limits that the stage asks for, within the host's own.
	Limits Limits

	// Plan finds seeds for the brief, rules, prompt and pages of call.Run. It gets
	// the seeds that the host found by itself; what it emits replaces the niche terms
	// among them.
	Plan func(ctx context.Context, call *Call, seeds []Seed, emit func(Seed) error) error
	// Collect finds records for seeds, and returns one outcome for each seed and
	// platform. Every source has it. emit waits while the host is busy, and fails when
	// the call is over.
	Collect func(ctx context.Context, call *Call, seeds []Seed, emit func(Record) error) ([]Outcome, error)
	// Refresh reads known videos again; it is optional for a source. An outcome whose
	// Seed is an external id is about that video: NotFound says that the platform no
	// longer has it, which is final; use Unsupported if the video may never have been
	// there. The host keeps what a record leaves out, except that Metadata replaces the
	// metadata of all sources.
	Refresh func(ctx context.Context, call *Call, refs []Ref, emit func(Record) error) ([]Outcome, error)
	// Media fetches videos, or their first seconds, into call.Scratch and emits the
	// name of each file there; it is optional for a source. The host moves the files away.
	Media func(ctx context.Context, call *Call, refs []Ref, emit func(File) error) ([]Outcome, error)
	// Screen emits one verdict for each record; next returns io.EOF after the last.
	Screen func(ctx context.Context, call *Call, next func() (Record, error), emit func(Verdict) error) (Summary, error)
	// Evidence emits a finding for each record in which it found something; next returns
	// io.EOF after the last.
	Evidence func(ctx context.Context, call *Call, next func() (Record, error), emit func(Finding) error) error
	// Brief emits the sentences of a creative brief for call.Run, whose Prompt is what the
	// tenant wants it to be about. The host drops a sentence that cites no fact, or any id
	// that is not among the facts.
	Brief func(ctx context.Context, call *Call, facts []Fact, emit func(Sentence) error) error
	// Check makes one cheap request and says whether settings, secrets and the connection
	// work; it is optional for every kind. It returns what works, in one line for people such
	// as `signed in as @acme, 9,000 of 10,000 units left`: 1 to [MaxChecked] characters
	// without a secret. Its error is one that another verb would end with: [Misconfiguredf],
	// [Refusedf], [Quotaf], [Busyf]. It has [CheckWithin], and changes nothing anywhere.
	// People run it before the first scroll, and again when something fails.
	Check func(ctx context.Context, call *Call) (string, error)
}

// The bounds of Spec.Check: how long it may take, its start included, and how many characters
// of its line people see.
const (
	CheckWithin = 30 * time.Second
	MaxChecked  = 200
)

// Setting is a value that the operator sets.
type Setting struct {
	// Name in lower case: `^[a-z][a-z0-9_]{0,39}$`.
	Name string
	// Default is the value if the operator sets none.
	Default string
	// Required refuses calls while there is neither a value nor a default.
	Required bool
	// RequiredWith names another setting: where the operator's environment sets that
	// one, it must set this one too, or the server does not start.
	RequiredWith string
	// Type is the form of the value; empty is any text. What the operator set is checked
	// before a call, for stages that come with the server when it starts.
	Type SettingType
	// Min and Max bound a number, a duration or an amount, written as the value is, and the number of
	// items of a list; both are within, and empty is no bound.
	Min, Max string
	// Values are the only ones of a choice, and of the items of a list; none means any.
	Values []string
	// Off is the value that turns the stage off; empty if none does. For stages that come
	// with the server.
	Off string
	// Path marks the value as a file or folder, which the stage may then read; it
	// arrives as an absolute path. A value that names no file arrives unchanged, and so
	// does Default, which opens no file: only the operator can.
	Path bool
	// Endpoint marks the value as an http or https address; the stage may reach its
	// host, which may also be in a private network, since the operator says so.
	Endpoint bool
	// Own lets an account that uses secrets of its own set the value too. It then comes from
	// the account, or is Default, and never the operator's: a limit of the account's own, a
	// statement that the account must make itself. For sources, and neither with Path,
	// Endpoint nor Off.
	Own bool
	// Help is for people.
	Help string
}

// SettingType is the form of a setting's value.
type SettingType string

// The types of settings.
const (
	// Number is a whole number.
	Number SettingType = "number"
	// Duration is a time as `90s` or `1h30m`.
	Duration SettingType = "duration"
	// Money is an amount of US dollars as `2.50`.
	Money SettingType = "money"
	// Choice is one of Setting.Values.
	Choice SettingType = "choice"
	// List has items with a comma between two.
	List SettingType = "list"
)

// Allowance is what a site grants the operator as a whole: all accounts of a server
// share it. A call with secrets of an account spends what the site grants that account.
type Allowance struct {
	// Name in the form of a setting's.
	Name string
	// Limit in units per window, if the operator sets none; above 0.
	Limit int64
	// Setting is the name of the setting with the operator's own limit; empty if the
	// operator cannot set one.
	Setting string
	// Window is the time after which the units are granted anew.
	Window Window
	// Cost is the units that one seed usually takes, for estimates.
	Cost Cost
	// Money: the units are millionths of a US dollar, and Call.GiveBack returns what a request
	// did not cost. For stages that come with the server; others have a Price.
	Money bool
}

// Cost is what one seed of a source usually takes, by what the seed has. Zero is
// nothing, or not known. It is no bound: an estimate shows it before a scroll.
type Cost struct{ Handle, Term int64 }

// Window is how long an allowance lasts, and when it is renewed.
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

// Limits bound one call. Zero asks for the host's default; the host's maximum is never
// exceeded.
type Limits struct {
	// Memory in bytes.
	Memory int64
	// Call is how long one call may last.
	Call time.Duration
	// Stall is how long a call may go on without a record or Call.Progress.
	Stall time.Duration
	// Records is how many a call may emit.
	Records int
	// Calls is how many may run at once on one server, for all accounts together, to be
	// polite to a site. Others wait. Zero is any number.
	Calls int
}
