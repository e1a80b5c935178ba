-- +goose Up
-- Nothing on SQLite: only PostgreSQL has told processes of changes.
SELECT 1;
