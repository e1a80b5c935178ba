package publicid_test

import (
	"errors"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

func TestMakerSaysThatNoGrantCoversItsIDs(t *testing.T) {
	t.Parallel()
	start := time.Now()
	now := start
	m := publicid.NewMaker(publicid.Grant{Node: 3, Until: start.Add(time.Second).UnixMilli()}, func() time.Time { return now },
		func(int64) (publicid.Grant, error) { return publicid.Grant{}, errors.New("the database is away") })
	if m.New(); m.Err() != nil {
		t.Errorf("within the grant: %v, want no error", m.Err())
	}
	now = start.Add(2 * time.Second)
	if m.New(); m.Err() == nil {
		t.Error("beyond the grant: no error")
	}
	m.Take(publicid.Grant{Node: 4, After: start.Add(time.Hour).UnixMilli(), Until: start.Add(2 * time.Hour).UnixMilli()})
	id := m.New()
	if least := publicid.First(start.Add(time.Hour + time.Millisecond)); m.Err() != nil || id < least {
		t.Errorf("after a new grant: id %d, err %v, want at least %d and no error", id, m.Err(), least)
	}
}
