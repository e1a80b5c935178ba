package stage

import stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"

// describe is the spec without its functions.
func describe(s Spec) *stagev1.Description {
	description := &stagev1.Description{
		Id: s.ID, Version: s.Version, Summary: s.Summary, Kind: string(s.Kind),
		Platforms: s.Platforms, Secrets: s.Secrets, Hosts: s.Hosts, Refreshes: s.Refresh != nil,
		FetchesMedia: s.Media != nil, NeedsMedia: s.NeedsMedia, Checks: s.Check != nil, AfterEvidence: s.AfterEvidence, Programs: s.Programs, RequiredSecrets: s.RequiredSecrets, Tokens: s.Tokens, Requests: encodeCost(s.Requests), DocsUrl: s.Docs,
		Limits: &stagev1.Limits{
			MemoryBytes: s.Limits.Memory, CallMillis: s.Limits.Call.Milliseconds(),
			StallMillis: s.Limits.Stall.Milliseconds(), Records: int64(s.Limits.Records),
			Calls: int64(s.Limits.Calls),
		},
	}
	for _, setting := range s.Settings {
		description.Settings = append(description.Settings, &stagev1.Setting{
			Name: setting.Name, Default: setting.Default, Required: setting.Required, Path: setting.Path,
			Endpoint: setting.Endpoint, Help: setting.Help, Type: string(setting.Type), Min: setting.Min, Max: setting.Max, Values: setting.Values, Own: setting.Own,
		})
	}
	for _, quota := range s.Quotas {
		description.Quotas = append(description.Quotas, &stagev1.Quota{
			Name: quota.Name, Limit: quota.Limit, Window: string(quota.Window), Setting: quota.Setting, Cost: encodeCost(quota.Cost),
		})
	}
	if s.Price != (Price{}) {
		description.Price = &stagev1.Price{Call: s.Price.Call, Record: s.Price.Record, Budget: s.Price.Budget}
	}
	return description
}

func encodeCost(c Cost) *stagev1.Cost {
	if c == (Cost{}) {
		return nil
	}
	return &stagev1.Cost{Handle: c.Handle, Term: c.Term}
}

func encodeError(e *Error) *stagev1.Error {
	message := &stagev1.Error{Fault: string(e.Fault), Message: e.Message}
	if !e.RetryAt.IsZero() {
		message.RetryAt = e.RetryAt.UnixMilli()
	}
	return message
}
