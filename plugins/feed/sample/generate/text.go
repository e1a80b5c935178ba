package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed text.json
var text []byte

// library is what the videos are made of; see text.json.
type library struct {
	Creators []creator
	Topics   []topic
	Odds     []odd
	Sounds   []struct{ ID, Title string }
}

// creator is an invented creator; the handles end in `.example`, which no
// platform and no person has.
type creator struct {
	Handle, Platform, Kind string
	Videos                 int
	Views                  float64
	Followers              int64
	// Newest, if set, is how far the newest video of a creator with few videos, who is too
	// new to have a usual number of views, runs ahead of Views.
	Newest float64
}

// topic is what some videos are about. Growth is how much its videos gain from
// one run to the next; the rising ones become trends.
type topic struct {
	Tags                             []string
	Growth                           float64
	Captions, Spoken, Screen, Visual []string
}

// odd is a video that the sample rules drop, and why.
type odd struct {
	Creator, Caption, Why string
	Tags                  []string
	Days, Seconds         float64
	Views                 int64
}

func load() (l library, err error) {
	if err = json.Unmarshal(text, &l); err != nil {
		err = fmt.Errorf("read text.json: %w", err)
	}
	return l, err
}
