import com.google.protobuf.TextFormat;
