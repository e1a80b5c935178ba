-- +goose Up
-- modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "blocked_at" bigint NULL;
