package stage

// Failure is why a scroll failed, as `failureCode` shows it. The host makes it from an
// [Error]; authors need it in no stage.
type Failure string

// The failures of stages and sources.
const (
	NoSources          Failure = "no_sources"
	SourceUnavailable  Failure = "source_unavailable"
	SourceQuota        Failure = "source_quota_exceeded"
	SourceUnauthorized Failure = "source_unauthorized"
	StageCrashed       Failure = "stage_crashed"
	StageTimeout       Failure = "stage_timeout"
	StageProtocol      Failure = "stage_protocol_error"
)

// CallError is the host's error of a call that failed.
type CallError struct {
	// Stage is the id of the stage.
	Stage   string
	Failure Failure
	// Retry reports whether another attempt can help.
	Retry bool
	// RetryAt is when, in Unix milliseconds; nil if unknown.
	RetryAt *int64
	// Setup is set if a setting, a secret or a program of the stage is missing or wrong.
	// Coverage shows it as misconfigured.
	Setup bool
	// Cause is the stage's own *Error, or how the process ended.
	Cause error
}

func (e *CallError) Error() string {
	text := "stage " + e.Stage + ": " + string(e.Failure)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *CallError) Unwrap() error { return e.Cause }
