// Package turns says how long a thread may keep a processor while others wait for it.
//
// Linux lets a thread that wakes up interrupt one whose turn is longer (since 6.12; before
// that, and on other systems, nothing changes). The threads of the server take short turns:
// a call that comes in is read, stored and answered by threads that each work for some
// microseconds, and does not wait for a plugin's turn to end at each of these steps. No
// process gets less of a processor by it.
package turns
