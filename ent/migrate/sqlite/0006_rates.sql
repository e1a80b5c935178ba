-- +goose Up
-- rates are in memory: SQLite has one process
SELECT 1;
