/// A value that consecutive rows of a partition have in common: the first row has it, and the
/// others refer to that one.
enum SharedColumn<Value> {
    /// The value itself.
    case own(Value)
    /// The value of the row that many ids earlier in the same partition.
    case backReference(rows: Int64)
}
