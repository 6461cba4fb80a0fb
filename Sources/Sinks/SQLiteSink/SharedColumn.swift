/// A value that consecutive rows of a partition have in common: the first row has it, and the
/// others refer to that one.
enum SharedColumn<Value> {
    /// The value itself.
    case own(Value)
    /// That of a row before in the same partition, so many ids ago.
    case before(Int64)
}
