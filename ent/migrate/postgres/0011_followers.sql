-- +goose Up
-- modify "creators" table
ALTER TABLE "creators" ADD COLUMN "followers" bigint NULL, ADD COLUMN "followers_at" bigint NULL;
