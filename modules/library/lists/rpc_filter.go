package lists

import (
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// request is what the requests of all lists have.
type request interface {
	proto.Message
	GetIncludeArchived() bool
	GetPageToken() string
}

// pageOf reads a request. The API has checked the bounds of the limit.
func pageOf(l List, paged bool, req request) Page {
	get := fieldsOf(req)
	if order, asked := get("order"); asked {
		l = l.ordered(order.(string))
	}
	p := Page{List: l, Limit: DefaultLimit, WithArchived: req.GetIncludeArchived(), Filter: filterOf(l, req), Token: req.GetPageToken(), Paged: paged}
	if limit, asked := get("limit"); asked {
		p.Limit = int(limit.(int32))
	}
	for name, place := range map[string]*string{"kind": &p.Kind, "platform": &p.Platform} {
		if value, asked := get(name); asked && l.indexes(name) {
			*place = value.(string)
		}
	}
	return p
}

// filterOf reads the filters of a request. Those that the index of the list has are left
// out. Bounds are whole numbers: a fraction counts as the next number that it lets in.
func filterOf(l List, req proto.Message) (f Filter) {
	get := fieldsOf(req)
	for i := range table {
		row := &table[i]
		value, asked := get(row.name)
		if !asked || l.indexes(row.name) {
			continue
		}
		if row.term != nil {
			f = f.With(row.term(row.text(value)))
		}
		if row.value == nil {
			continue
		}
		switch place := row.value(&f).(type) {
		case *string:
			*place = row.text(value)
		case *float64:
			*place = number(value)
		case *int64:
			if *place = int64(math.Ceil(number(value))); row.operator == "<=" {
				*place = int64(math.Floor(number(value)))
			}
		}
	}
	if q, asked := get("q"); asked {
		f = f.With(videos.Words(q.(string))...)
	}
	if annotated, asked := get("annotated"); asked && annotated.(bool) {
		f = f.With(videos.Annotated)
	} else if asked {
		f.Without = videos.Annotated
	}
	return f
}

// fieldsOf reads the fields of a message by their JSON names; asked is false if a request
// leaves one out, or if there is none of that name.
func fieldsOf(m proto.Message) func(name string) (value any, asked bool) {
	of := m.ProtoReflect()
	return func(name string) (any, bool) {
		field := of.Descriptor().Fields().ByJSONName(name)
		if field == nil || !of.Has(field) {
			return nil, false
		}
		return of.Get(field).Interface(), true
	}
}

// checkFilters refuses texts without words, a platform that cannot be one, and bounds that
// nothing lies between.
func checkFilters(req proto.Message) (issues []apierr.Issue) {
	get := fieldsOf(req)
	if q, asked := get("q"); asked {
		if err := CheckQuery(q.(string)); err != nil {
			issues = append(issues, apierr.Issue{Path: "q", Message: err.Error()})
		}
	}
	for i := range table {
		row := &table[i]
		if value, asked := get(row.name); asked && row.term != nil && row.term(row.text(value)) == "" {
			issues = append(issues, apierr.Issue{Path: row.name, Message: ErrNoWord.Error()})
		}
	}
	if name, asked := get("platform"); asked {
		issues = append(issues, videos.CheckPlatform(name.(string))...)
	}
	return append(issues, filterOf(0, req).Impossible()...)
}
