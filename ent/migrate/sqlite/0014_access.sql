-- +goose Up
-- Nothing on SQLite: admission sees by the version of the file that it has changed.
SELECT 1;
