// Package film reads the first seconds of videos with the system's ffmpeg, for the
// evidence stages that look and listen.
//
// A video is a stranger's file. ffmpeg gets it as the one file that it may open:
// none of the formats that name others (playlists, lists of parts), no protocol but
// files, bounds for time, memory and output. The host confines the process
// besides: the process reaches no network and reads nothing but its media.
//
// ffmpeg from 5.1 on will do.
package film
