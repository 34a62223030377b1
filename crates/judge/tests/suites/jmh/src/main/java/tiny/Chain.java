package tiny;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Chain {
    @Param({"10", "100"})
    public int n;

    @Benchmark
    public long chain() {
        long x = n | 1;
        for (int i = 0; i < n; i++) {
            x *= 6364136223846793005L;
        }
        return x;
    }
}
