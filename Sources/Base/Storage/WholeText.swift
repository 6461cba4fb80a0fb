/// SQL for texts in which a client may have put a zero byte. Of a text, GRDB reads and binds only
/// what stands before the first one; a blob it takes whole, and makes a `String` of it.
package enum WholeText {
    /// A column of texts for a SELECT, under its own name. Only for rows that are copied, as by
    /// `fetchAll`: of a cursor's row, GRDB reads even a blob only up to a zero byte.
    package static func column(_ name: String) -> String { "\(Self.value(name)) AS \(name)" }

    /// The same of an expression, without a name.
    package static func value(_ expression: String) -> String { "CAST(\(expression) AS BLOB)" }
}
