-- +goose Up
-- modify "library_runs" table
ALTER TABLE "library_runs" ADD COLUMN "repeats" bigint NULL;
