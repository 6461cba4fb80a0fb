// What is wrong with the keys of the postgresql sink.
package import PostgreSQLSink

extension PostgreSQLConfiguration {
    /// Why a program that was built without the trait cannot have this sink.
    package static let absence =
        "this program was built without it: swift build --traits PostgreSQL"

    /// Refuses what the sink cannot use; for a server that has one.
    static func check(_ values: inout ConfigurationValues) {
        let url = values.text("postgresql.url")
        if url.isEmpty {
            values.refuse(
                "postgresql.url",
                "the postgresql sink needs it, as in "
                    + "postgresql://sightline@db.example.com/sightline")
        } else {
            do throws(PostgreSQLURL.Refusal) {
                _ = try PostgreSQLURL(url)
            } catch {
                values.refuse("postgresql.url", "has to \(error)")
            }
        }
        if !PostgreSQLSchema.isName(values.text("postgresql.schema")) {
            values.refuse(
                "postgresql.schema",
                "has to be 1 to 63 of the letters a to z, digits and _, and may begin neither "
                    + "with a digit nor with pg_")
        }
        if values.number("postgresql.retention_days") > 0 {
            if values.text("postgresql.migrate") == "false" {
                values.refuse(
                    "postgresql.retention_days",
                    "has to be 0 where postgresql.migrate is false: the sink then drops no "
                        + "partitions either")
            }
            if values.number("postgresql.retention_days") <= values.number("postgresql.late_days") {
                values.refuse(
                    "postgresql.retention_days",
                    "has to be 0, or more than postgresql.late_days")
            }
        }
        values.refuseAlone([
            ("postgresql.tls.certificate", "postgresql.tls.key"),
            ("postgresql.tls.key", "postgresql.tls.certificate"),
        ])
        let mode = values.text("postgresql.tls.mode")
        if !mode.hasPrefix("verify"), !values.text("postgresql.tls.roots").isEmpty {
            values.refuse(
                "postgresql.tls.roots",
                "postgresql.tls.mode is \(mode), which proves nothing: set it to verify-full")
        }
    }
}
