// Package datasync writes what a file holds to the disk, so that it survives a power cut.
package datasync
