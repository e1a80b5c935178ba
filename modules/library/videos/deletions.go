package videos

// Deletions deletes videos and brings them back. It is the service by another name, with what
// deletions, tombstones and suppressions need beside it.
type Deletions struct{ *Service }
